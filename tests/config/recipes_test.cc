// The six recipes that the README shows, with their files laid out: what each of them becomes.
#include "tests/config/support.h"

namespace shoal::engine {
namespace {

class Recipes : public FleetFileTest {
 protected:
  Recipes() {
    // A folder named like a hub id is taken first, so no cache is needed.
    for (const char* model : {"bert-base-uncased", "bert-base-multilingual-cased"}) {
      touch(std::filesystem::path(model) / "config.json");
      touch(std::filesystem::path(model) / "model.safetensors");
      touch(std::filesystem::path(model) / "vocab.txt");
    }
  }
};

TEST_F(Recipes, LearningRates) {
  touch("sst2/train.tsv");
  touch("sst2/dev.tsv");
  const FleetSpec fleet = parse(R"([[job]]
name = "lr{learning_rate}-s{seed}"
model = "bert-base-uncased"
train_file = "sst2/train.tsv"
validation_file = "sst2/dev.tsv"
text = "sentence"                      # text and label default to the columns of that name
sweep.learning_rate = [1e-5, 2e-5, 3e-5, 5e-5]
sweep.seed = [1, 2]
)");
  EXPECT_EQ(names(fleet), (std::vector<std::string>{"lr1e-5-s1", "lr1e-5-s2", "lr2e-5-s1", "lr2e-5-s2",
                                                    "lr3e-5-s1", "lr3e-5-s2", "lr5e-5-s1", "lr5e-5-s2"}));
  EXPECT_EQ(fleet.jobs[5].learning_rate, 3e-5);
  EXPECT_EQ(fleet.jobs[5].seed, 2u);
  EXPECT_EQ(fleet.jobs[5].text.name, "sentence");
  EXPECT_EQ(fleet.jobs[5].label.name, "label");
}

TEST_F(Recipes, CrossValidation) {
  touch("all.csv");
  const std::string recipe = R"([[job]]
name = "fold{fold}"
model = "bert-base-uncased"
train_file = "all.csv"
folds = )";
  const FleetSpec five = parse(recipe + "5\n");
  EXPECT_EQ(names(five), (std::vector<std::string>{"fold0", "fold1", "fold2", "fold3", "fold4"}));
  EXPECT_EQ(shown(five.jobs[4].fold), "fold 4 of 5, seed 0");
  const FleetSpec ten = parse(recipe + "{ n = 5, group = \"user_id\", repeats = 2, seed = 0 }\n");
  ASSERT_EQ(ten.jobs.size(), 10u);
  EXPECT_EQ(shown(ten.jobs[9].fold), "fold 9 of 5, seed 0, by column 'user_id'");
}

TEST_F(Recipes, AJobForEachCustomer) {
  for (const char* customer : {"acme", "zorro"}) {
    touch(std::filesystem::path("customers") / customer / "tickets.csv");
  }
  touch("customers/empty/notes.txt");
  const FleetSpec fleet = parse(R"([fleet]
on_error = "skip"
[[job]]
each.customer = "customers/*"
name = "{customer}"
model = "bert-base-multilingual-cased"
train_file = "customers/{customer}/tickets.csv"
validation_split_percentage = 10
)");
  ASSERT_EQ(names(fleet), (std::vector<std::string>{"acme", "empty", "zorro"}));
  EXPECT_EQ(fleet.jobs[2].train_file, folder_ / "customers/zorro/tickets.csv");
  EXPECT_EQ(fleet.jobs[2].validation_split_percentage, 10);
  EXPECT_EQ(fleet.jobs[2].refused, "");
  EXPECT_NE(fleet.jobs[1].refused.find("no file"), std::string::npos);
}

TEST_F(Recipes, DifferentTasksAtOnce) {
  for (const char* task : {"SST-2", "CoLA", "RTE", "STS-B"}) {
    touch(std::filesystem::path("glue") / task / "train.tsv");
    touch(std::filesystem::path("glue") / task / "dev.tsv");
  }
  const FleetSpec fleet = parse(R"(job = [
  { name = "SST-2", text = "sentence" },
  { name = "CoLA", header = false, text = 4, label = 2, metric_for_best_model = "matthews_correlation" },
  { name = "RTE", text = "sentence1", text_pair = "sentence2", learning_rate = 3e-5 },
  { name = "STS-B", problem_type = "regression", text = "sentence1", text_pair = "sentence2", label = "score" },
]
[defaults]
model = "bert-base-uncased"
train_file = "glue/{name}/train.tsv"
validation_file = "glue/{name}/dev.tsv"
)");
  ASSERT_EQ(names(fleet), (std::vector<std::string>{"SST-2", "CoLA", "RTE", "STS-B"}));
  EXPECT_EQ(fleet.jobs[1].label.number, 2);
  EXPECT_EQ(fleet.jobs[1].validation_file, folder_ / "glue/CoLA/dev.tsv");
  EXPECT_EQ(fleet.jobs[2].learning_rate, 3e-5);
  EXPECT_EQ(fleet.jobs[3].problem_type, ProblemType::kRegression);
  EXPECT_EQ(fleet.jobs[3].text_pair->name, "sentence2");
}

class SharedTrunk : public Recipes {
 protected:
  SharedTrunk() {
    touch("tickets/train.jsonl");
    touch("tickets/dev.jsonl");
  }
  std::string recipe_ = R"([[trunk]]
name = "support"
model = "bert-base-uncased"
mode = "joint"                         # or "frozen"
max_steps = 20000
[[job]]
trunk = "support"
each.head = ["intent", "urgency", "product", "sentiment", "language", "spam"]
name = "{head}"
label = "{head}"
train_file = "tickets/train.jsonl"
validation_file = "tickets/dev.jsonl"
)";
  void replace(const std::string& from, const std::string& to) {
    const std::size_t at = recipe_.find(from);
    ASSERT_NE(at, std::string::npos);
    recipe_.replace(at, from.size(), to);
  }
};

TEST_F(SharedTrunk, IsReadAndRefusedInOneLine) {
  EXPECT_EQ(refusal(recipe_), "f.toml:1:1: error: [[trunk]]: not yet in this version of shoal");
}

TEST_F(SharedTrunk, ItsMistakesShowNevertheless) {
  replace("\"joint\" ", "\"frosen\"");
  replace("20000", "-5");
  replace("trunk = \"support\"", "trunk = \"suport\"");
  const std::string what = refusal(recipe_);
  EXPECT_NE(what.find("f.toml:4:8: error: mode is 'frosen'; allowed: joint, frozen; did you mean 'frozen'?"),
            std::string::npos)
      << what;
  EXPECT_NE(what.find("f.toml:7:9: error: unknown trunk 'suport'; allowed: support; did you mean 'support'?"),
            std::string::npos)
      << what;
  replace("trunk = \"suport\"", "trunk = \"support\"");
  EXPECT_NE(refusal(recipe_).find("f.toml:5:13: error: max_steps is -5;"), std::string::npos)
      << refusal(recipe_);
}

TEST_F(SharedTrunk, AHeadNeedsATrunk) {
  EXPECT_EQ(refusal(defaults_ + "[[job]]\nname = 'a'\nhead = 'b'\n"),
            "f.toml:6:8: error: head needs a trunk");
}

TEST_F(Recipes, Asha) {
  touch("train.csv");
  touch("dev.csv");
  const auto recipe = [](const std::string& scheduler) {
    return R"([[job]]
name = "t{trial:03}"
model = "bert-base-uncased"
train_file = "train.csv"
validation_file = "dev.csv"
eval_steps = 100
sweep.learning_rate = { loguniform = [1e-6, 1e-4] }
sweep.warmup_steps = { uniform = [0.0, 0.2] }
sweep.per_device_train_batch_size = [16, 32, 64]
search = { n_trials = 64, seed = 0)" +
           scheduler + " }\n";
  };
  EXPECT_EQ(
      refusal(recipe(", scheduler = \"asha\", grace_period = 1, reduction_factor = 4")),
      "f.toml:10:49: error: search.scheduler = \"asha\": not yet in this version of shoal; without it every "
      "trial trains to its end");
  const FleetSpec fleet = parse(recipe(""));
  ASSERT_EQ(fleet.jobs.size(), 64u);
  EXPECT_EQ(fleet.jobs[63].name, "t063");
  EXPECT_EQ(fleet.jobs[63].eval_steps, 100);
}

}  // namespace
}  // namespace shoal::engine
