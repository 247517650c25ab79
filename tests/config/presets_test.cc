// [preset.NAME] and use: where a key stands in several places, which one holds.
#include "tests/config/support.h"

namespace shoal::engine {
namespace {

using Presets = FleetFileTest;

TEST_F(Presets, EachLevelBeatsTheOneBelow) {
  // Every key stands on its own level and on all below it, with the level's number as its value.
  const FleetSpec fleet = parse(defaults_ + R"(seed = 1
data_seed = 1
eval_steps = 1
logging_steps = 1
max_steps = 1
max_train_samples = 1
[preset.second]
data_seed = 2
eval_steps = 2
logging_steps = 2
max_steps = 2
max_train_samples = 2
[preset.third]
eval_steps = 3
logging_steps = 3
max_steps = 3
max_train_samples = 3
[[job]]
name = "a"
use = ["second", "third"]
logging_steps = 4
max_steps = 4
max_train_samples = 4
sweep.max_steps = [5]
each.max_train_samples = [5]
)",
                                {.set = {"defaults.max_train_samples=6"}, .only = {}});
  const JobSpec& job = fleet.jobs.at(0);
  EXPECT_EQ(job.seed, 1u);
  EXPECT_EQ(job.data_seed, 2u);
  EXPECT_EQ(job.eval_steps, 3);
  EXPECT_EQ(job.logging_steps, 4);
  EXPECT_EQ(job.max_steps, 5);
  EXPECT_EQ(job.max_train_samples, 6);
}

TEST_F(Presets, TheLastPresetWins) {
  const std::string presets = "[preset.a]\nseed = 1\n[preset.b]\nseed = 2\n";
  const auto seed = [&](const std::string& use) {
    return parse(defaults_ + presets + "[[job]]\nname = 'x'\nuse = " + use + "\n").jobs.at(0).seed;
  };
  EXPECT_EQ(seed("['a', 'b']"), 2u);
  EXPECT_EQ(seed("['b', 'a']"), 1u);
  EXPECT_EQ(seed("[]"), 42u);
}

TEST_F(Presets, AJobsUseReplacesThatOfDefaults) {
  const FleetSpec fleet = parse(defaults_ + R"(use = ["a"]
[[job]]
name = "x"
[[job]]
name = "y"
use = ["b"]
[preset.a]
seed = 1
[preset.b]
data_seed = 2
)");
  EXPECT_EQ(fleet.jobs[0].seed, 1u);
  EXPECT_EQ(fleet.jobs[1].seed, 42u);
  EXPECT_EQ(fleet.jobs[1].data_seed, 2u);
}

TEST_F(Presets, TextsOfAPresetAreTemplatesOfTheJob) {
  const FleetSpec fleet =
      parse(defaults_ + "[preset.p]\ntext = 'col_{name}'\n[[job]]\nname = 'x'\nuse = ['p']\n");
  EXPECT_EQ(fleet.jobs[0].text.name, "col_x");
}

TEST_F(Presets, Mistakes) {
  const std::pair<const char*, const char*> cases[] = {
      {"[[job]]\nname = 'a'\nuse = ['big']\n[preset.bit]\n",
       "6:8: error: unknown preset 'big'; allowed: bit; did you mean 'bit'?"},
      {"[[job]]\nname = 'a'\nuse = ['big']\n",
       "6:8: error: unknown preset 'big'; there is no [preset.NAME] in the file"},
      {"[[job]]\nname = 'a'\nuse = 'big'\n[preset.big]\n",
       "6:7: error: use is 'big'; allowed: a list of names such as [\"NAME\"] of sections [preset.NAME]"},
      {"[[job]]\nname = 'a'\n[preset.p]\nuse = ['p']\n",
       "7:1: error: use in [preset.p]; it belongs in [defaults] or a [[job]]"},
      {"[[job]]\nname = 'a'\n[preset.p]\nsweep.seed = [1]\n",
       "7:1: error: sweep in [preset.p]; it belongs in a [[job]]"},
      {"[[job]]\nname = 'a'\n[preset.p]\nname = 'x'\n",
       "7:1: error: name in [preset.p]; a job's name belongs in its [[job]]"},
      {"[[job]]\nname = 'a'\n[preset]\nseed = 3\n",
       "7:1: error: seed in [preset]; allowed: keys in sections [preset.NAME]"},
      {"[[job]]\nname = 'a'\n[preset.p]\nlr = 3\n", "7:1: error: lr: use learning_rate"},
      {"[[job]]\nname = 'a'\nuse = ['p']\n[preset.p]\nseed = -3\n",
       "8:8: error: seed is -3; allowed: an integer >= 0"},
  };
  for (const auto& [text, what] : cases)
    EXPECT_EQ(refusal(defaults_ + text), std::string("f.toml:") + what) << text;
}

}  // namespace
}  // namespace shoal::engine
