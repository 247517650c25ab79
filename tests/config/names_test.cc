// Job names become folders: what they may look like, and that no two jobs share one.
#include "tests/config/support.h"

namespace shoal::engine {
namespace {

class Names : public FleetFileTest {
 protected:
  std::string about(const std::string& toml_name) const {
    return refusal(defaults_ + "[[job]]\nname = " + toml_name + "\n");
  }
};

TEST_F(Names, PathSafeTextIsAllowed) {
  for (const char* name :
       {"\"a\"", "\"lr1e-5-s1\"", "\"a/b/c\"", "\"été\"", "\"客户 7\"", "\"a..b\"", "\"a.\""}) {
    EXPECT_EQ(about(name), "") << name;
  }
}

TEST_F(Names, OthersAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"\"/a\"", "name: '/a' starts with '/', so it cannot be a folder's name"},
      {"\".a\"", "name: '.a' has a part that starts with '.', so it cannot be a folder's name"},
      {"\"a/../b\"", "name: 'a/../b' has a part that starts with '.', so it cannot be a folder's name"},
      {"\"..\"", "name: '..' has a part that starts with '.', so it cannot be a folder's name"},
      {"\"a//b\"", "name: 'a//b' has an empty part between or after '/', so it cannot be a folder's name"},
      {"\"a/\"", "name: 'a/' has an empty part between or after '/', so it cannot be a folder's name"},
      {"\"a\\nb\"", "name: 'a\\nb' has a control character, so it cannot be a folder's name"},
      {"\"a\\u0085\"", "name: 'a\\x85' has a control character, so it cannot be a folder's name"},
      {"\"results.csv\"",
       "name: 'results.csv' is the name of a file of the run, so it cannot be a folder's name"},
      {"\"\"", "name is ''; allowed: a text that can be a folder's name"},
      {"3", "name is 3; allowed: a text that can be a folder's name"},
  };
  for (const auto& [name, what] : cases) EXPECT_EQ(about(name), std::string("f.toml:5:8: error: ") + what);
  EXPECT_NE(about("\"" + std::string(201, 'x') + "\""), "");
  EXPECT_EQ(about("\"" + std::string(200, 'x') + "\""), "");
}

TEST_F(Names, TwiceIsRefusedNamingBoth) {
  EXPECT_EQ(refusal(defaults_ + "[[job]]\nname = 'a'\n[[job]]\nname = 'a'\n"),
            "f.toml:7:8: error: the job of f.toml:4:1 and that of f.toml:6:1 have the name 'a'");
}

TEST_F(Names, ASweepThatDoesNotShowInTheNameGetsAHint) {
  EXPECT_EQ(refusal(defaults_ + "[[job]]\nname = 'a'\nsweep.seed = [1, 2]\nsweep.learning_rate = [1]\n"),
            "f.toml:5:8: error: two jobs of one [[job]] (seed=1 and seed=2) have the name 'a'; a name with "
            "{seed}-{learning_rate} would tell them apart");
}

TEST_F(Names, EveryDimensionThatTheNameLacksIsHintedAt) {
  EXPECT_EQ(refusal(defaults_ + R"([[job]]
name = 'x{seed}'
each.col = ['a', 'b']
text = "{col}"
sweep.seed = [1, 2]
folds = 2
)"),
            "f.toml:5:8: error: two jobs of one [[job]] (fold=0 and fold=1) have the name 'x1'; a name with "
            "{col}-{fold} would tell them apart\n"
            "f.toml:5:8: error: two jobs of one [[job]] (fold=0 and fold=1) have the name 'x2'; a name with "
            "{col}-{fold} would tell them apart");
  EXPECT_EQ(refusal(defaults_ + "[[job]]\nname = 'x'\nsweep.seed = [1, 2]\nsearch = { n_trials = 2 }\n"
                                "sweep.data_seed = { randint = [0, 1000000] }\n")
                    .find("{trial} would tell them apart") == std::string::npos,
            false);
}

TEST_F(Names, OfManyAlikeTwoAreNamed) {
  const std::string what = refusal(defaults_ + "[[job]]\nname = 'a'\nsweep.seed = [1, 2, 3, 4]\n");
  EXPECT_EQ(std::count(what.begin(), what.end(), '\n'), 0) << what;
}

TEST_F(Names, OneFolderInsideAnotherIsRefused) {
  EXPECT_EQ(refusal(defaults_ + "[[job]]\nname = 'a'\n[[job]]\nname = 'a/b'\n"),
            "f.toml:7:8: error: the folder of job 'a/b' would lie inside that of job 'a' (f.toml:4:1)");
  EXPECT_EQ(refusal(defaults_ + "[[job]]\nname = 'a'\n[[job]]\nname = 'ab/b'\n"), "");
}

}  // namespace
}  // namespace shoal::engine
