// job.toml: a resolved job that can be run again as it was.
#include "engine/config/job_toml.h"

#include "tests/config/support.h"

namespace shoal::engine {
namespace {

using JobToml = FleetFileTest;

TEST_F(JobToml, ReadsBackTheSame) {
  touch("a{b.tsv");
  const FleetSpec fleet = parse(defaults_ + R"(validation_file = "dev.tsv"
[[job]]
name = "x/{seed}"
train_file = "a{{b.tsv"
text = "the \"text\" {{1}}"
text_pair = 3
delimiter = "\t"
sweep.seed = [7]
learning_rate = 3e-5
warmup_steps = 0.06
eval_strategy = "steps"
eval_steps = 50
precision = "fp32"
metric_for_best_model = "f1"
greater_is_better = true
load_best_model_at_end = true
hidden_dropout_prob = 0.0
micro_tokens = 4096
max_train_samples = 100
data_seed = 3
save_dtype = "bfloat16"
lr_scheduler_type = "cosine_with_restarts"
lr_scheduler_kwargs = { num_cycles = 2.5 }
problem_type = "single_label_classification"
test_file = "dev.tsv"
encoding = "cp1252"
encoding_errors = "replace"
early_stopping_patience = 2
early_stopping_threshold = 0.01
optim = "adamw_torch_fused"
gemm = "auto"
)");
  const std::string text = job_toml(fleet.jobs.at(0));
  // Elsewhere: the paths must hold from any folder.
  const FleetSpec again = parse_fleet(text, "/tmp/elsewhere/job.toml");
  ASSERT_EQ(again.jobs.size(), 1u);
  const JobSpec& a = fleet.jobs[0];
  const JobSpec& b = again.jobs[0];
  EXPECT_EQ(b.name, "x/7");
  EXPECT_EQ(b.seed, 7u);
  EXPECT_EQ(b.text.name, "the \"text\" {1}");
  EXPECT_EQ(b.text_pair->number, 3);
  EXPECT_EQ(b.train_file, a.train_file);
  EXPECT_EQ(b.model.vocab, a.model.vocab);
  EXPECT_EQ(b.learning_rate, a.learning_rate);
  EXPECT_EQ(b.warmup_steps, a.warmup_steps);
  EXPECT_EQ(b.eval_strategy, Strategy::kSteps);
  EXPECT_EQ(b.hidden_dropout_prob, 0.0);
  EXPECT_EQ(b.delimiter, "\t");
  EXPECT_EQ(b.lr_scheduler_type, Scheduler::kCosineWithRestarts);
  EXPECT_EQ(b.lr_scheduler_kwargs, (std::map<std::string, double>{{"num_cycles", 2.5}}));
  EXPECT_EQ(b.problem_type, ProblemType::kSingleLabelClassification);
  EXPECT_EQ(b.test_file, folder_ / "dev.tsv");
  EXPECT_EQ(b.encoding, "cp1252");
  EXPECT_EQ(b.encoding_errors, "replace");
  EXPECT_EQ(b.early_stopping_patience, 2);
  EXPECT_EQ(b.early_stopping_threshold, 0.01);
  EXPECT_EQ(b.optim, "adamw_torch");
  EXPECT_EQ(job_toml(b), text);
}

TEST_F(JobToml, AFoldIsThatVeryFoldAgain) {
  const FleetSpec fleet = parse(defaults_ + R"([[job]]
name = "f{fold}-{seed}"
sweep.seed = [1, 2]
folds = { n = 3, repeats = 2, seed = 9, group = "user {{x}}" }
)");
  ASSERT_EQ(fleet.jobs.size(), 12u);
  for (const JobSpec& job : fleet.jobs) {
    const std::string text = job_toml(job);
    const FleetSpec again = parse_fleet(text, "/tmp/elsewhere/job.toml");
    ASSERT_EQ(again.jobs.size(), 1u) << text;
    EXPECT_EQ(shown(again.jobs[0].fold), shown(job.fold)) << text;
    EXPECT_EQ(again.jobs[0].name, job.name);
    EXPECT_EQ(job_toml(again.jobs[0]), text);
  }
  EXPECT_EQ(fleet.jobs[4].fold->group->name, "user {x}");
}

TEST_F(JobToml, ASplitAndARegressionAndCountsOfUpdates) {
  const FleetSpec fleet = parse(defaults_ + R"([[job]]
name = "a"
validation_split_percentage = 20
problem_type = "regression"
lr_scheduler_type = "warmup_stable_decay"
lr_scheduler_kwargs = { num_decay_steps = 100, min_lr_ratio = 0.1, decay_type = "cosine" }
)");
  const std::string text = job_toml(fleet.jobs.at(0));
  const JobSpec again = parse_fleet(text, "/tmp/elsewhere/job.toml").jobs.at(0);
  EXPECT_EQ(again.validation_split_percentage, 20);
  EXPECT_EQ(again.problem_type, ProblemType::kRegression);
  EXPECT_EQ(again.lr_scheduler_kwargs,
            (std::map<std::string, double>{{"min_lr_ratio", 0.1}, {"num_decay_steps", 100}}));
  EXPECT_EQ(job_toml(again), text);
}

TEST_F(JobToml, DefaultsAreWrittenOut) {
  const std::string text = job_toml(parse(defaults_ + "[[job]]\nname = 'a'\n").jobs.at(0));
  for (const char* line : {"\nlearning_rate = 5e-5\n", "\nseed = 42\n", "\noptim = \"adamw_torch\"\n",
                           "\nnum_train_epochs = 3.0\n", "\nload_best_model_at_end = false\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
  EXPECT_EQ(text.find("validation_file"), std::string::npos);
}

TEST_F(JobToml, FactsAreComments) {
  const std::pair<std::string, std::string> facts[] = {{"device", "cpu"}, {"note", "two\n[[job]]\nlines"}};
  const std::string text = job_toml(parse(defaults_ + "[[job]]\nname = 'a'\n").jobs.at(0), facts);
  EXPECT_EQ(text.find("# device: cpu\n# note: two [[job]] lines\n[[job]]\n"), 0u) << text;
  EXPECT_EQ(parse(text).jobs.size(), 1u);
}

}  // namespace
}  // namespace shoal::engine
