// Sections, defaults, sweeps: which jobs a fleet file makes, and with which values.
#include "tests/config/support.h"

namespace shoal::engine {
namespace {

using Expand = FleetFileTest;
using testing::Test;

TEST_F(Expand, AJobTakesDefaultsAndItsOwnKeysWin) {
  const FleetSpec fleet = parse(defaults_ + R"(seed = 7
learning_rate = 1e-4
[[job]]
name = "a"
[[job]]
name = "b"
seed = 8
)");
  ASSERT_EQ(names(fleet), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(fleet.jobs[0].seed, 7u);
  EXPECT_EQ(fleet.jobs[1].seed, 8u);
  EXPECT_EQ(fleet.jobs[1].learning_rate, 1e-4);
  EXPECT_EQ(fleet.jobs[0].where, (folder_ / "f.toml").string() + ":6:1");
}

TEST_F(Expand, DefaultsMayStandBelowTheJobs) {
  const FleetSpec fleet = parse("job = [ { name = \"a\" }, { name = \"b\", label = 2 } ]\n" + defaults_);
  ASSERT_EQ(names(fleet), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(fleet.jobs[1].label.number, 2);
  EXPECT_EQ(fleet.jobs[0].label.name, "label");
}

TEST_F(Expand, TheLastSweepVariesFastestInFileOrder) {
  // Sorted by key, "learning_rate" would come before "seed": the order of the file must hold.
  const FleetSpec fleet = parse(defaults_ + R"([[job]]
name = "s{seed}-lr{learning_rate}"
sweep.seed = [2, 1]
sweep.learning_rate = [3e-5, 1e-5]
[[job]]
name = "last"
)");
  EXPECT_EQ(names(fleet),
            (std::vector<std::string>{"s2-lr3e-5", "s2-lr1e-5", "s1-lr3e-5", "s1-lr1e-5", "last"}));
  EXPECT_EQ(fleet.jobs[2].seed, 1u);
  EXPECT_EQ(fleet.jobs[2].learning_rate, 3e-5);
  EXPECT_EQ(fleet.jobs[2].variables,
            (std::map<std::string, std::string>{{"learning_rate", "3e-5"}, {"seed", "1"}}));
  EXPECT_TRUE(fleet.jobs[4].variables.empty());
}

TEST_F(Expand, ASweepValueBeatsTheJobsOwn) {
  const FleetSpec fleet = parse(defaults_ + "[[job]]\nname = \"s{seed}\"\nseed = 5\nsweep.seed = [1, 2]\n");
  EXPECT_EQ(names(fleet), (std::vector<std::string>{"s1", "s2"}));
}

TEST_F(Expand, FleetKeys) {
  const FleetSpec fleet =
      parse("[fleet]\nslots = 3\nthreads = 2\ndevice = \"cpu\"\noutput_dir = \"../out\"\n" + defaults_ +
            "[[job]]\nname = \"a\"\n");
  EXPECT_EQ(fleet.slots, 3);
  EXPECT_EQ(fleet.threads, 2);
  EXPECT_EQ(fleet.device, "cpu");
  EXPECT_EQ(fleet.output_dir, folder_.parent_path() / "out");
  EXPECT_EQ(fleet.on_error, OnError::kRefuse);
}

TEST_F(Expand, WithoutFleetSection) {
  const FleetSpec fleet = parse(defaults_ + "[[job]]\nname = \"a\"\n");
  EXPECT_FALSE(fleet.slots);
  EXPECT_EQ(fleet.output_dir, folder_ / "runs" / "f");
  EXPECT_EQ(fleet.jobs[0].train_file, folder_ / "train.tsv");
  EXPECT_EQ(fleet.jobs[0].model.vocab, folder_ / "vocab.txt");
}

TEST_F(Expand, SlotsAutoIsTheDefault) {
  EXPECT_FALSE(parse("[fleet]\nslots = \"auto\"\n" + defaults_ + "[[job]]\nname = \"a\"\n").slots);
}

TEST_F(Expand, SkipFailsOnlyTheJobsWhoseFilesAreMissing) {
  const FleetSpec fleet = parse("[fleet]\non_error = \"skip\"\n" + defaults_ +
                                "[[job]]\nname = \"a\"\n[[job]]\nname = \"b\"\ntrain_file = \"nope.tsv\"\n");
  EXPECT_EQ(fleet.jobs[0].refused, "");
  EXPECT_EQ(without_folder(fleet.jobs[1].refused), "f.toml:10:14: error: train_file: no file 'nope.tsv'");
}

TEST_F(Expand, SkipDoesNotForgiveTheFileItself) {
  EXPECT_NE(refusal("[fleet]\non_error = \"skip\"\n" + defaults_ + "[[job]]\nname = \"a\"\nseed = -1\n"), "");
}

TEST_F(Expand, WarmupTakesUpdatesOrAShare) {
  const FleetSpec fleet =
      parse(defaults_ + "[[job]]\nname = \"{trial}\"\nsweep.warmup_steps = [0, 0.06, 100, 1]\n");
  EXPECT_EQ(fleet.jobs[1].warmup_steps, 0.06);
  EXPECT_EQ(fleet.jobs[2].warmup_steps, 100);
}

TEST_F(Expand, AMetricIsTheSameWithEvalInFront) {
  EXPECT_EQ(parse(defaults_ + "[[job]]\nname = \"a\"\nmetric_for_best_model = \"eval_f1\"\n")
                .jobs[0]
                .metric_for_best_model,
            "f1");
}

TEST_F(Expand, ATabMayBeWrittenBothWays) {
  for (const char* written : {"\"\\t\"", "'\\t'"}) {
    const FleetSpec fleet = parse(defaults_ + "[[job]]\nname = \"a\"\ndelimiter = " + written + "\n");
    EXPECT_EQ(fleet.jobs[0].delimiter, "\t") << written;
  }
}

TEST_F(Expand, TooManyJobsAreSeenBeforeTheyAreMade) {
  std::string list = "[0";
  for (int i = 1; i < 400; ++i) list += "," + std::to_string(i);
  list += "]";
  const std::string text =
      defaults_ + "[[job]]\nname = \"{trial}\"\nsweep.seed = " + list + "\nsweep.data_seed = " + list + "\n";
  EXPECT_EQ(refusal(text), "f.toml:4:1: error: more than 100000 jobs in all with this [[job]]");
}

}  // namespace
}  // namespace shoal::engine
