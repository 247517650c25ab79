// each: a list, a glob, the rows of a CSV; as keys and as variables for templates.
#include "tests/config/support.h"

namespace shoal::engine {
namespace {

class Each : public FleetFileTest {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string about(const std::string& lines) const {
    return refusal(defaults_ + "[[job]]\nname = \"{trial}\"\n" + lines + "\n");
  }
};

TEST_F(Each, AListOfAVariableIsForTemplates) {
  const FleetSpec fleet = parse(defaults_ + R"([[job]]
each.column = ["a", "b"]
name = "on-{column}"
text = "{column}"
)");
  EXPECT_EQ(names(fleet), (std::vector<std::string>{"on-a", "on-b"}));
  EXPECT_EQ(fleet.jobs[1].text.name, "b");
  EXPECT_EQ(fleet.jobs[1].variables, (std::map<std::string, std::string>{{"column", "b"}}));
}

TEST_F(Each, AListOfAKeySetsIt) {
  const FleetSpec fleet = parse(defaults_ + "[[job]]\nname = 's{seed}'\nseed = 9\neach.seed = [3, 4]\n");
  EXPECT_EQ(names(fleet), (std::vector<std::string>{"s3", "s4"}));
  EXPECT_EQ(fleet.jobs[1].seed, 4u);
}

TEST_F(Each, TheOrderIsEachThenSweepThenFoldsTheLastFastest) {
  const FleetSpec fleet = parse(defaults_ + R"([[job]]
name = "{c}{d}-{learning_rate}-{seed}-{fold}-t{trial}"
text = "{c}{d}"
folds = 2
sweep.learning_rate = [2e-5, 1e-5]
each.d = ["y", "x"]
sweep.seed = [2, 1]
each.c = ["b", "a"]
)");
  const std::vector<std::string> all = names(fleet);
  ASSERT_EQ(all.size(), 32u);
  EXPECT_EQ(all[0], "by-2e-5-2-0-t0");
  EXPECT_EQ(all[1], "by-2e-5-2-1-t0");
  EXPECT_EQ(all[2], "by-2e-5-1-0-t1");
  EXPECT_EQ(all[4], "by-1e-5-2-0-t2");
  EXPECT_EQ(all[8], "ay-2e-5-2-0-t0");
  EXPECT_EQ(all[16], "bx-2e-5-2-0-t0");
  EXPECT_EQ(fleet.jobs[31].variables,
            (std::map<std::string, std::string>{
                {"c", "a"}, {"d", "x"}, {"fold", "1"}, {"learning_rate", "1e-5"}, {"seed", "1"}}));
}

TEST_F(Each, AGlobGivesWhatTheStarStoodForSortedByBytes) {
  for (const char* name :
       {"in/b/t.tsv", "in/a/t.tsv", "in/Z/t.tsv", "in/é/t.tsv", "in/.hidden/t.tsv", "in/7/t.tsv"})
    touch(name);
  const FleetSpec fleet = parse(defaults_ + R"([[job]]
each.customer = "in/*"
name = "{customer}"
train_file = "in/{customer}/t.tsv"
)");
  EXPECT_EQ(names(fleet), (std::vector<std::string>{"7", "Z", "a", "b", "é"}));
  EXPECT_EQ(fleet.jobs[2].train_file, folder_ / "in/a/t.tsv");
}

TEST_F(Each, TheStarMayStandInsideAPath) {
  for (const char* name : {"in/x-1/t.tsv", "in/x-2/t.tsv", "in/x-3/other.tsv", "in/y-4/t.tsv"}) touch(name);
  const FleetSpec fleet = parse(defaults_ + "[[job]]\neach.seed = \"in/x-*/t.tsv\"\nname = \"{seed:03}\"\n");
  EXPECT_EQ(names(fleet), (std::vector<std::string>{"001", "002"}));
  EXPECT_EQ(fleet.jobs[1].seed, 2u);
}

TEST_F(Each, FileNamesAreDataNotPatternsOrTemplates) {
  for (const char* name : {"in[1]/{seed}/t.tsv", "in[1]/a?/t.tsv", "in1/wrong/t.tsv"}) touch(name);
  const FleetSpec fleet = parse(defaults_ + R"([[job]]
each.c = "in[1]/*"
name = "{c}"
train_file = "in[1]/{c}/t.tsv"
)");
  EXPECT_EQ(names(fleet), (std::vector<std::string>{"a?", "{seed}"}));
}

TEST_F(Each, ARowAJobItsColumnsAreKeysOrVariables) {
  write("shops.csv",
        "id,label,learning_rate,place,max_steps\n7,2,1e-4,\"Köln, {Dom}\",\n08,stars,3E-5,Bonn,100\n");
  const FleetSpec fleet = parse(defaults_ + R"([[job]]
each.shop = { csv = "shops.csv" }
name = "{id}-{place}"
max_steps = 5
)");
  EXPECT_EQ(names(fleet), (std::vector<std::string>{"7-Köln, {Dom}", "08-Bonn"}));
  EXPECT_EQ(fleet.jobs[0].label.number, 2);
  EXPECT_EQ(fleet.jobs[1].label.name, "stars");
  EXPECT_EQ(fleet.jobs[0].learning_rate, 1e-4);
  EXPECT_EQ(fleet.jobs[0].max_steps, 5);  // an empty cell leaves the key as it is
  EXPECT_EQ(fleet.jobs[1].max_steps, 100);
  EXPECT_EQ(fleet.jobs[1].variables, (std::map<std::string, std::string>{{"id", "08"},
                                                                         {"label", "stars"},
                                                                         {"learning_rate", "3E-5"},
                                                                         {"max_steps", "100"},
                                                                         {"place", "Bonn"}}));
}

TEST_F(Each, ACellIsANumberOrATextAsItsKeyNeeds) {
  touch("2024");
  write("rows.csv", "name,train_file,text\n1.5,2024,3\ntrue,2024,x # y\n");
  const FleetSpec fleet = parse(defaults_ + "[[job]]\neach.row = { csv = 'rows.csv' }\n");
  EXPECT_EQ(names(fleet), (std::vector<std::string>{"1.5", "true"}));
  EXPECT_EQ(fleet.jobs[0].train_file, folder_ / "2024");
  EXPECT_EQ(fleet.jobs[0].text.number, 3);
  EXPECT_EQ(fleet.jobs[1].text.name, "x # y");
}

TEST_F(Each, MistakesInACsvAreShownThere) {
  write("rows.csv", "id,learning_rate,train_file\na,1e-5,\nb,-1,\nc,fast,nope.tsv\n");
  EXPECT_EQ(refusal(defaults_ + "[[job]]\neach.row = { csv = 'rows.csv' }\nname = '{id}'\n"),
            "rows.csv:3: error: learning_rate is -1; allowed: a number > 0\n"
            "rows.csv:4: error: learning_rate is 'fast'; allowed: a number > 0\n"
            "rows.csv:4: error: train_file: no file 'nope.tsv'");
}

TEST_F(Each, SkipFailsOnlyTheCustomersWithoutAFile) {
  for (const char* name : {"in/a/t.tsv", "in/b/other.tsv"}) touch(name);
  const FleetSpec fleet = parse("[fleet]\non_error = 'skip'\n" + defaults_ +
                                "[[job]]\neach.c = 'in/*'\nname = '{c}'\ntrain_file = 'in/{c}/t.tsv'\n");
  ASSERT_EQ(names(fleet), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(fleet.jobs[0].refused, "");
  EXPECT_NE(fleet.jobs[1].refused, "");
}

TEST_F(Each, Mistakes) {
  write("empty.csv", "a,b\n");
  write("twice.csv", "a,a\n1,2\n");
  touch("in/x");
  const std::pair<const char*, const char*> cases[] = {
      {"each.c = []\ntext = '{c}'", "6:10: error: each.c is an empty list, so there would be no job"},
      {"each.c = 3\ntext = '{c}'",
       "6:10: error: each.c is 3; allowed: a list of values, a glob with one * such as \"customers/*\", or { "
       "csv "
       "= \"FILE\" }"},
      {"each.c = 'in'\ntext = '{c}'",
       "6:10: error: each.c is 'in'; allowed: a list of values, a glob with one * such as \"customers/*\", "
       "or { "
       "csv = \"FILE\" }"},
      {"each.c = '*/*'\ntext = '{c}'",
       "6:10: error: each.c is '*/*'; allowed: a list of values, a glob with one * such as \"customers/*\", "
       "or { "
       "csv = \"FILE\" }"},
      {"each.c = 'out/*'\ntext = '{c}'",
       "6:10: error: each.c: nothing matches 'out/*', so there would be no job"},
      {"each.c = { csv = 'no.csv' }", "6:10: error: each.c: no file 'no.csv'"},
      {"each.c = { csv = 'empty.csv' }",
       "6:10: error: each.c: 'empty.csv' has no row, so there would be no job"},
      {"each.c = { csv = 'twice.csv' }", "6:10: error: each.c: 'twice.csv' has two columns of one name"},
      {"each.c = { cvs = 'no.csv' }",
       "6:10: error: each.c is a table; allowed: a list of values, a glob with one * such as "
       "\"customers/*\", or "
       "{ csv = \"FILE\" }"},
      {"each.fold = [1]", "6:13: error: each cannot set 'fold'; allowed: a key, or another name"},
      {"each = 3", "6:8: error: each is 3; allowed: each.NAME = [ values ], a glob, or { csv = \"FILE\" }"},
      {"each.seed = [1]\nsweep.seed = [3]", "4:1: error: seed varies twice in this [[job]]"},
      {"each.seed = [-1]", "6:14: error: seed is -1; allowed: an integer >= 0"},
      {"text = '{custmer}'\neach.customer = ['a']\nlabel = '{customer}'",
       "6:8: error: unknown name '{custmer}' in a template; allowed: the keys of a job, trial, fold, "
       "customer; "
       "did you mean 'customer'?"},
  };
  for (const auto& [lines, what] : cases) EXPECT_EQ(about(lines), std::string("f.toml:") + what) << lines;
}

TEST_F(Each, AVariableThatChangesNothingIsASlip) {
  EXPECT_EQ(
      about("each.learning_rat = [1e-5]"),
      "f.toml:6:6: error: each.learning_rat changes no job but its name: learning_rat is no key, and no "
      "other text holds {learning_rat}; did you mean 'learning_rate'?");
  EXPECT_EQ(about("each.lr = [1e-5]"),
            "f.toml:6:6: error: each.lr changes no job but its name: lr is no key, and no other text holds "
            "{lr}; use "
            "learning_rate");
  EXPECT_EQ(about("each.lr = [1]\ntext = 'column {lr:02}'"), "");
}

}  // namespace
}  // namespace shoal::engine
