// folds: which jobs they make, and what they exclude.
#include "tests/config/support.h"

namespace shoal::engine {
namespace {

class Folds : public FleetFileTest {
 protected:
  FleetSpec with(const std::string& folds, const FleetFileOptions& options = {}) const {
    return parse(defaults_ + "[[job]]\nname = 'f{fold}'\nfolds = " + folds + "\n", options);
  }
  std::string about(const std::string& lines) const {
    return refusal(defaults_ + "[[job]]\nname = 'f{fold}'\n" + lines + "\n");
  }
};

TEST_F(Folds, AJobAFold) {
  const FleetSpec fleet = with("3");
  ASSERT_EQ(names(fleet), (std::vector<std::string>{"f0", "f1", "f2"}));
  EXPECT_EQ(shown(fleet.jobs[2].fold), "fold 2 of 3, seed 0");
  EXPECT_EQ(fleet.jobs[2].variables, (std::map<std::string, std::string>{{"fold", "2"}}));
}

TEST_F(Folds, RepeatsCountOn) {
  const FleetSpec fleet = with("{ n = 2, repeats = 3, group = 4, seed = 7 }");
  ASSERT_EQ(fleet.jobs.size(), 6u);
  EXPECT_EQ(fleet.jobs[5].name, "f5");
  EXPECT_EQ(shown(fleet.jobs[5].fold), "fold 5 of 2, seed 7, by column 4");
}

TEST_F(Folds, OnlyOne) {
  const FleetSpec fleet = with("{ n = 5, only = 3 }");
  ASSERT_EQ(names(fleet), (std::vector<std::string>{"f3"}));
  EXPECT_EQ(fleet.jobs[0].fold->n, 5);
}

TEST_F(Folds, MayStandInDefaultsAndPresetsAndVaryAndBeSet) {
  EXPECT_EQ(parse(defaults_ + "folds = 2\n[[job]]\nname = '{fold}'\n").jobs.size(), 2u);
  EXPECT_EQ(parse(defaults_ + "[[job]]\nname = '{fold}'\nuse = ['cv']\n[preset.cv]\nfolds = 3\n").jobs.size(),
            3u);
  EXPECT_EQ(parse(defaults_ + "[[job]]\nname = '{trial}/{fold}'\nsweep.folds = [2, 3]\n").jobs.size(), 5u);
  EXPECT_EQ(with("5", {.set = {"defaults.folds=2"}, .only = {}}).jobs.size(), 2u);
  try {
    static_cast<void>(with("5", {.set = {"job.f1.folds=2"}, .only = {}}));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "--set job.f1.folds=2: error: folds make jobs; allowed: --set defaults.folds=N");
  }
}

TEST_F(Folds, AreRowsToEvaluateOn) {
  EXPECT_EQ(about("folds = 2\nload_best_model_at_end = true\nearly_stopping_patience = 1"), "");
  EXPECT_EQ(
      about("folds = 2\nvalidation_file = 'dev.tsv'"),
      "f.toml:7:19: error: validation_file and folds: a fold is evaluated on its own part of train_file; "
      "remove one of the two");
  EXPECT_EQ(
      about("folds = 2\nvalidation_split_percentage = 10"),
      "f.toml:7:31: error: validation_split_percentage and folds: a fold is evaluated on its own part of "
      "train_file; remove one of the two");
}

TEST_F(Folds, Mistakes) {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "folds is 1; allowed: an integer >= 2, or { n = 5, group = \"COLUMN\", repeats = 1, seed = 0 }"},
      {"'5'",
       "folds is '5'; allowed: an integer >= 2, or { n = 5, group = \"COLUMN\", repeats = 1, seed = 0 }"},
      {"{ n = 1 }", "folds.n is 1; allowed: an integer from 2 to 100000"},
      {"{ seed = 1 }", "folds has no n, their number"},
      {"{ n = 2, repeats = 0 }", "folds.repeats is 0; allowed: an integer from 1 to 100000"},
      {"{ n = 2, group = 0 }", "folds.group is 0; allowed: a column's name, or its number from 1"},
      {"{ n = 2, only = 2 }", "folds.only is 2; allowed: a fold from 0 to 1"},
      {"{ n = 2, fold = 2 }", "unknown key 'fold' in folds; allowed: n, group, repeats, seed, only"},
      {"{ n = 1000, repeats = 1000 }", "folds: more than 100000 folds"},
  };
  for (const auto& [folds, what] : cases)
    EXPECT_EQ(about("folds = " + std::string(folds)), std::string("f.toml:6:9: error: ") + what);
}

}  // namespace
}  // namespace shoal::engine
