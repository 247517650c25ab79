// --set and --only.
#include "engine/config/typed_keys.h"

#include "tests/config/support.h"

namespace shoal::engine {
namespace {

class TypedKeys : public FleetFileTest {
 protected:
  // Two swept jobs and one with a dot in its name.
  const std::string text_ = defaults_ + R"([[job]]
name = "s{seed}"
sweep.seed = [1, 2]
[[job]]
name = "v1.2"
learning_rate = 1e-4
)";
  FleetSpec with(const FleetFileOptions& options) const { return parse(text_, options); }
  std::string about(const FleetFileOptions& options) const { return refusal(text_, options); }
};

TEST_F(TypedKeys, DefaultsReachEveryJobWhateverItSays) {
  const FleetSpec fleet = with({.set = {"defaults.learning_rate=3e-5"}});
  for (const JobSpec& job : fleet.jobs) EXPECT_EQ(job.learning_rate, 3e-5) << job.name;
}

TEST_F(TypedKeys, OneJobKeepsItsName) {
  const FleetSpec fleet = with({.set = {"job.s2.seed=9", "job.v1.2.seed=7"}});
  EXPECT_EQ(names(fleet), (std::vector<std::string>{"s1", "s2", "v1.2"}));
  EXPECT_EQ(fleet.jobs[0].seed, 1u);
  EXPECT_EQ(fleet.jobs[1].seed, 9u);
  EXPECT_EQ(fleet.jobs[2].seed, 7u);
}

TEST_F(TypedKeys, OneJobBeatsAllJobsAndTheLastOneWins) {
  const FleetSpec fleet = with({.set = {"job.s1.max_steps=5", "defaults.max_steps=6", "job.s1.max_steps=7"}});
  EXPECT_EQ(fleet.jobs[0].max_steps, 7);
  EXPECT_EQ(fleet.jobs[1].max_steps, 6);
}

TEST_F(TypedKeys, ValuesAreTomlOrElseText) {
  const FleetSpec fleet =
      with({.set = {"fleet.slots=2", "defaults.text=sentence", "defaults.label=\"l\"",
                    "defaults.header=false", "defaults.text_pair=3", "defaults.header=true"}});
  EXPECT_EQ(fleet.slots, 2);
  EXPECT_EQ(fleet.jobs[0].text.name, "sentence");
  EXPECT_EQ(fleet.jobs[0].label.name, "l");
  EXPECT_EQ(fleet.jobs[0].text_pair->number, 3);
}

TEST_F(TypedKeys, BadValuesAreRefusedAsIfInTheFile) {
  EXPECT_EQ(about({.set = {"defaults.max_steps=0"}}),
            "--set defaults.max_steps=0: error: max_steps is 0; allowed: an integer >= 1, or -1 for none");
}

TEST_F(TypedKeys, ASweptKeySetForAllMakesTwins) {
  EXPECT_EQ(about({.set = {"defaults.seed=3"}}),
            "f.toml:5:8: error: two jobs of one [[job]] have the name 's3'");
}

TEST_F(TypedKeys, WhatCannotBeUnderstoodIsUsage) {
  const std::pair<const char*, const char*> cases[] = {
      {"seed=1",
       "--set seed=1: error: not of the form defaults.KEY=VALUE, job.NAME.KEY=VALUE or fleet.KEY=VALUE"},
      {"defaults.seed",
       "--set defaults.seed: error: not of the form defaults.KEY=VALUE, job.NAME.KEY=VALUE or "
       "fleet.KEY=VALUE"},
      {"defaults.lr=1", "--set defaults.lr=1: error: lr: use learning_rate"},
      {"fleet.slot=1",
       "--set fleet.slot=1: error: unknown key 'slot'; allowed: output_dir, slots, device, threads, "
       "on_error, price_per_hour, cache_dir, report_to; did you mean 'slots'?"},
      {"job.s3.seed=1", "--set job.s3.seed=1: error: no job 's3'; allowed: s1, s2, v1.2; did you mean 's1'?"},
  };
  for (const auto& [set, what] : cases) {
    EXPECT_EQ(about({.set = {set}}), what);
    EXPECT_THROW(static_cast<void>(with({.set = {set}})), config::UsageError) << set;
  }
}

TEST_F(TypedKeys, OnlyTakesGlobs) {
  EXPECT_EQ(names(with({.only = {"s*"}})), (std::vector<std::string>{"s1", "s2"}));
  EXPECT_EQ(names(with({.only = {"v1.2", "s[2-9]"}})), (std::vector<std::string>{"s2", "v1.2"}));
  EXPECT_EQ(about({.only = {"x*"}}), "--only x*: error: matches no job; allowed: s1, s2, v1.2");
}

TEST_F(TypedKeys, FilesOfOtherJobsAreNotMissed) {
  const std::string text = defaults_ + "[[job]]\nname = 'a'\n[[job]]\nname = 'b'\ntrain_file = 'no.tsv'\n";
  EXPECT_NE(refusal(text), "");
  EXPECT_EQ(refusal(text, {.only = {"a"}}), "");
}

}  // namespace
}  // namespace shoal::engine
