// Every complaint about a fleet file, word for word: what a user sees is part of the promise.
#include "tests/config/support.h"

namespace shoal::engine {
namespace {

class Errors : public FleetFileTest {
 protected:
  // The complaint about one line in a job that is whole otherwise; it stands in line 6.
  std::string about(const std::string& line) const {
    return refusal(defaults_ + "[[job]]\nname = \"a\"\n" + line + "\n");
  }
};

TEST_F(Errors, WrongValues) {
  const std::pair<const char*, const char*> cases[] = {
      {"learning_rate = -1", "17: error: learning_rate is -1; allowed: a number > 0"},
      {"learning_rate = 0", "17: error: learning_rate is 0; allowed: a number > 0"},
      {"learning_rate = inf", "17: error: learning_rate is inf; allowed: a number > 0"},
      {"learning_rate = nan", "17: error: learning_rate is nan; allowed: a number > 0"},
      {"learning_rate = '3e-5'",
       "17: error: learning_rate is '3e-5'; allowed: a number > 0; numbers are written without quotes"},
      {"learning_rate = true", "17: error: learning_rate is true; allowed: a number > 0"},
      {"learning_rate = [1]", "17: error: learning_rate is a list; allowed: a number > 0"},
      {"per_device_train_batch_size = 0",
       "31: error: per_device_train_batch_size is 0; allowed: an integer >= 1"},
      {"per_device_train_batch_size = 8.0",
       "31: error: per_device_train_batch_size is 8.0; allowed: an integer >= 1"},
      {"seed = -1", "8: error: seed is -1; allowed: an integer >= 0"},
      {"adam_beta1 = -0.1", "14: error: adam_beta1 is -0.1; allowed: a number in [0, 1)"},
      {"adam_beta2 = 1", "14: error: adam_beta2 is 1; allowed: a number in [0, 1)"},
      {"adam_epsilon = 0", "16: error: adam_epsilon is 0; allowed: a number > 0"},
      {"weight_decay = -1", "16: error: weight_decay is -1; allowed: a number >= 0"},
      {"max_steps = 0", "13: error: max_steps is 0; allowed: an integer >= 1, or -1 for none"},
      {"warmup_steps = 1.5",
       "16: error: warmup_steps is 1.5; allowed: a number that is an integer >= 0 (updates) or in [0, 1) (a "
       "share of all "
       "updates)"},
      {"header = 'yes'", "10: error: header is 'yes'; allowed: true or false"},
      {"delimiter = ', '",
       "13: error: delimiter is ', '; allowed: one ASCII character, such as \";\" or \"\\t\""},
      {"text = 0", "8: error: text is 0; allowed: a column's name, or its number from 1"},
      {"max_seq_length = 2", "18: error: max_seq_length is 2; allowed: an integer >= 3"},
      {"eval_strategy = 'epochs'",
       "17: error: eval_strategy is 'epochs'; allowed: no, steps, epoch; did you mean 'epoch'?"},
      {"task = 'token-classification'",
       "8: error: task = 'token-classification': not yet in this version of shoal; allowed: "
       "text-classification"},
      {"task = 'text-clasification'",
       "8: error: task is 'text-clasification'; allowed: text-classification; did you mean "
       "'text-classification'?"},
      {"optim = 'lamb'",
       "9: error: optim = 'lamb': not yet in this version of shoal; allowed: adamw_torch, adamw_torch_fused"},
      {"optim = 'sgd'", "9: error: optim is 'sgd'; allowed: adamw_torch, adamw_torch_fused"},
      {"problem_type = 'multi_label_classification'",
       "16: error: problem_type = 'multi_label_classification': not yet in this version of shoal; allowed: "
       "single_label_classification, regression"},
      {"gemm = 'cublaslt'", "8: error: gemm is 'cublaslt'; allowed: own, auto"},
      {"encoding = 'klingon'",
       "12: error: encoding is 'klingon'; allowed: a name that iconv or Python knows, such as utf-8, "
       "latin-1, cp1252 or "
       "utf-16"},
      {"encoding_errors = 'drop'", "19: error: encoding_errors is 'drop'; allowed: strict, replace, ignore"},
      {"validation_split_percentage = 100",
       "31: error: validation_split_percentage is 100; allowed: an integer from 1 to 99"},
      {"validation_split_percentage = 0",
       "31: error: validation_split_percentage is 0; allowed: an integer from 1 to 99"},
      {"metric_for_best_model = 'eval_acuracy'",
       "25: error: metric_for_best_model is 'eval_acuracy'; allowed: loss, accuracy, f1, f1_macro, f1_micro, "
       "f1_weighted, matthews_correlation, pearson, spearmanr, combined_score, mse, mae"},
      {"metric_for_best_model = 'pearson'",
       "25: error: metric_for_best_model is 'pearson', which a classification does not have; allowed: loss, "
       "accuracy, f1, f1_macro, f1_micro, f1_weighted, matthews_correlation"},
      {"early_stopping_patience = 0", "27: error: early_stopping_patience is 0; allowed: an integer >= 1"},
      {"test_file = 'nope.tsv'", "13: error: test_file: no file 'nope.tsv'"},
      {"precision = 'fp16'", "13: error: precision is 'fp16'; allowed: auto, bf16, fp32"},
      {"hidden_dropout_prob = 1", "23: error: hidden_dropout_prob is 1; allowed: a number in [0, 1)"},
      {"train_file = ''", "14: error: train_file is ''; allowed: the path of a file"},
      {"train_file = 'nope.tsv'", "14: error: train_file: no file 'nope.tsv'"},
  };
  for (const auto& [line, what] : cases) EXPECT_EQ(about(line), std::string("f.toml:6:") + what);
}

TEST_F(Errors, AFolderIsNoFile) {
  std::filesystem::create_directories(folder_ / "sub");
  EXPECT_EQ(about("train_file = 'sub'"), "f.toml:6:14: error: train_file: 'sub' is a folder, not a file");
}

TEST_F(Errors, UnknownAndForeignKeys) {
  const std::pair<const char*, const char*> cases[] = {
      {"fp16 = true", "fp16: there is no fp16 arithmetic; use precision = \"bf16\", \"fp32\" or \"auto\""},
      {"bf16 = true", "bf16: use precision = \"bf16\""},
      {"gradient_checkpointing = true",
       "gradient_checkpointing: not needed: large batches are cut into passes of micro_tokens"},
      {"deepspeed = 'x'", "deepspeed: there is one device and no sharding; remove it"},
      {"torch_compile = true", "torch_compile: there is no torch here to be told so; remove it"},
      {"push_to_hub = true",
       "push_to_hub: nothing is uploaded; every job leaves a Hugging Face folder that you can upload"},
      {"overwrite_output_dir = true", "overwrite_output_dir: use the option --overwrite of `shoal train`"},
      {"warmup_ratio = 0.1", "warmup_ratio: use warmup_steps: below 1 it is the share of all updates"},
      {"group_by_length = true", "group_by_length: not needed: rows are packed, not padded"},
      {"model_name_or_path = 'x'", "model_name_or_path: use model"},
      {"batch_size = 8", "batch_size: use per_device_train_batch_size"},
      {"epochs = 3", "epochs: use num_train_epochs"},
      {"lr = 3e-5", "lr: use learning_rate"},
      {"save_steps = 5", "save_steps: not yet in this version of shoal"},
      {"save_total_limit = 5", "save_total_limit: not yet in this version of shoal"},
      {"slots = 3", "slots is a key of the whole fleet; move it to [fleet]"},
      {"fleet = 3",
       "fleet is under [[job]]: in TOML a key belongs to the section above it; move it above the first "
       "[section]"},
  };
  for (const auto& [line, what] : cases) EXPECT_EQ(about(line), std::string("f.toml:6:1: error: ") + what);
  const std::string unknown = about("learning_rat = 1");
  EXPECT_EQ(unknown.find("f.toml:6:1: error: unknown key 'learning_rat' in [[job]]; allowed: name, model, "),
            0u)
      << unknown;
  EXPECT_TRUE(unknown.ends_with("; did you mean 'learning_rate'?")) << unknown;
  EXPECT_TRUE(about("swep.seed = [1]").ends_with("; did you mean 'sweep'?"));
}

TEST_F(Errors, Sweeps) {
  const std::pair<const char*, const char*> cases[] = {
      {"sweep.seed = []", "14: error: sweep.seed is an empty list, so there would be no job"},
      {"sweep.seed = 3", "14: error: sweep.seed is 3; allowed: a list of values"},
      {"sweep.seed = { uniform = [0, 1] }",
       "7: error: sweep.seed draws from a range, which needs a search = { n_trials = N }"},
      {"sweep.lr = [1]", "7: error: lr: use learning_rate"},
      {"sweep = 3", "9: error: sweep is 3; allowed: sweep.KEY = [ values ]"},
      {"sweep.seed = [1, 'x']", "18: error: seed is 'x'; allowed: an integer >= 0"},
  };
  for (const auto& [line, what] : cases) {
    const std::string text = defaults_ + "[[job]]\nname = \"a{trial}\"\n" + line + "\n";
    EXPECT_EQ(refusal(text), std::string("f.toml:6:") + what);
  }
}

TEST_F(Errors, SectionsAtTheWrongPlace) {
  const std::pair<std::string, const char*> cases[] = {
      {"seed = 3\n", "f.toml:1:1: error: seed is outside of any section; move it to [defaults] or a [[job]]"},
      {"slots = 3\n", "f.toml:1:1: error: slots is outside of any section; move it to [fleet]"},
      {"lr = 3\n", "f.toml:1:1: error: lr: use learning_rate"},
      {"[trunk]\n", "f.toml:1:2: error: a trunk is written [[trunk]], with two brackets"},
      {"[default]\n",
       "f.toml:1:2: error: unknown section 'default'; allowed: fleet, defaults, preset, trunk, job; did you "
       "mean 'defaults'?"},
      {"[job]\n", "f.toml:1:2: error: [job] is one table; a job is written [[job]], with two brackets"},
      {"job = 3\n", "f.toml:1:1: error: job is 3; allowed: [[job]], or job = [ {...}, ... ]"},
      {"job = [3]\n", "f.toml:1:8: error: a job is 3; allowed: a table such as { name = \"a\" }"},
      {"fleet = 3\n", "f.toml:1:1: error: fleet is 3; allowed: a section [fleet]"},
      {"[defaults]\nsweep.seed = [1]\n", "f.toml:2:1: error: sweep in [defaults]; it belongs in a [[job]]"},
      {"[fleet]\nseed = 1\n", "f.toml:2:1: error: seed is a key of jobs; move it to [defaults] or a [[job]]"},
      {"[fleet]\nslot = 1\n",
       "f.toml:2:1: error: unknown key 'slot' in [fleet]; allowed: output_dir, slots, device, threads, "
       "on_error, price_per_hour, cache_dir, report_to; did you mean 'slots'?"},
      {"[fleet]\nreport_to = 'wandb'\n",
       "f.toml: error: there is no [[job]] in the file\n"
       "f.toml:2:13: error: report_to = 'wandb': not yet in this version of shoal; allowed: none"},
      {"[fleet]\nprice_per_hour = -1\n",
       "f.toml: error: there is no [[job]] in the file\n"
       "f.toml:2:18: error: price_per_hour is -1; allowed: a number >= 0"},
      {"[fleet]\njob = []\n",
       "f.toml:2:1: error: job is under [fleet]: in TOML a key belongs to the section above it; move it "
       "above the first "
       "[section]"},
      {"[fleet]\nslots = 0\n",
       "f.toml: error: there is no [[job]] in the file\n"
       "f.toml:2:9: error: slots is 0; allowed: an integer >= 1, or \"auto\""},
      {"", "f.toml: error: there is no [[job]] in the file"},
  };
  for (const auto& [text, what] : cases) EXPECT_EQ(refusal(text), what);
}

TEST_F(Errors, NotToml) {
  EXPECT_EQ(refusal("[fleet]\nslots = \n").find("f.toml:2:9: error: "), 0u);
  EXPECT_EQ(refusal("a = 1\na = 2\n").find("f.toml:2:5: error: "), 0u);
  EXPECT_EQ(refusal("a = \"\xff\"\n").find("f.toml:1:5: error: "), 0u);
}

TEST_F(Errors, WhatAJobMustHave) {
  EXPECT_EQ(refusal("[[job]]\nname = 'a'\n"),
            "f.toml:1:1: error: job 'a' has no model\nf.toml:1:1: error: job 'a' has no train_file");
  EXPECT_EQ(refusal(defaults_ + "[[job]]\n"), "f.toml:4:1: error: the job has no name");
}

TEST_F(Errors, KeysThatContradictEachOther) {
  EXPECT_EQ(
      about("load_best_model_at_end = true"),
      "f.toml:6:26: error: load_best_model_at_end needs a validation_file, validation_split_percentage or "
      "folds");
  EXPECT_EQ(
      about("eval_strategy = 'steps'"),
      "f.toml:6:17: error: eval_strategy needs a validation_file, validation_split_percentage or folds; "
      "allowed without: no");
  EXPECT_EQ(
      about("early_stopping_patience = 2"),
      "f.toml:6:27: error: early_stopping_patience needs a validation_file, validation_split_percentage or "
      "folds");
  EXPECT_EQ(about("validation_file = 'dev.tsv'\nearly_stopping_patience = 2\neval_strategy = 'no'"),
            "f.toml:7:27: error: early_stopping_patience needs evaluations, but eval_strategy is 'no'");
  EXPECT_EQ(about("early_stopping_threshold = 0.1"),
            "f.toml:6:28: error: early_stopping_threshold needs early_stopping_patience");
  EXPECT_EQ(
      about("validation_file = 'dev.tsv'\nvalidation_split_percentage = 5"),
      "f.toml:7:31: error: validation_split_percentage and validation_file: there are rows to evaluate on "
      "already; remove one of the two");
  EXPECT_EQ(
      about("problem_type = 'regression'\nlabel_smoothing_factor = 0.1"),
      "f.toml:7:26: error: label_smoothing_factor spreads over classes, but problem_type is 'regression'");
  EXPECT_EQ(
      about("problem_type = 'regression'\nmetric_for_best_model = 'f1'"),
      "f.toml:7:25: error: metric_for_best_model is 'f1', which a regression does not have; allowed: loss, "
      "pearson, spearmanr, combined_score, mse, mae");
  EXPECT_EQ(about("problem_type = 'regression'\nmetric_for_best_model = 'eval_pearson'"), "");
  for (const char* rows : {"validation_file = 'dev.tsv'", "validation_split_percentage = 5"}) {
    EXPECT_EQ(about(rows + std::string("\nload_best_model_at_end = true\nearly_stopping_patience = 1\n"
                                       "eval_strategy = 'steps'")),
              "");
  }
  EXPECT_EQ(about("validation_file = 'dev.tsv'\nload_best_model_at_end = true\neval_strategy = 'no'"),
            "f.toml:7:26: error: load_best_model_at_end needs evaluations, but eval_strategy is 'no'");
  EXPECT_EQ(about("micro_tokens = 64"),
            "f.toml:6:16: error: micro_tokens is 64; allowed: >= max_seq_length, which is 128");
  EXPECT_EQ(about("text_pair = 'b'\nmax_seq_length = 3"),
            "f.toml:7:18: error: max_seq_length is 3; allowed with a text_pair: >= 4");
  EXPECT_EQ(about("header = false\ntext = 's'\nlabel = 2"),
            "f.toml:7:8: error: text is 's', but header = false leaves no names; allowed: the column's "
            "number, from 1");
  EXPECT_EQ(about("header = false\ntext = 1"),
            "f.toml:6:10: error: label is 'label', but header = false leaves no names; allowed: the column's "
            "number, from 1");
  EXPECT_EQ(about("header = false\ntext = 1\nlabel = 2"), "");
}

TEST_F(Errors, AllAreCollectedInFileOrderAndOnceEach) {
  const std::string text =
      defaults_ + "seed = -1\n[[job]]\nname = 's{learning_rate}'\nlr = 1\nsweep.learning_rate = [1, 2, -3]\n";
  EXPECT_EQ(refusal(text),
            "f.toml:4:8: error: seed is -1; allowed: an integer >= 0\n"
            "f.toml:7:1: error: lr: use learning_rate\n"
            "f.toml:8:30: error: learning_rate is -3; allowed: a number > 0");
}

TEST_F(Errors, TwentyAreShownAndTheRestCounted) {
  std::string text = defaults_;
  for (int i = 0; i < 25; ++i) text += "[[job]]\nname = 'j" + std::to_string(i) + "'\nseed = -1\n";
  const std::string what = refusal(text);
  EXPECT_EQ(std::count(what.begin(), what.end(), '\n'), 20);
  EXPECT_TRUE(what.ends_with("\n... and 5 more errors")) << what;
}

TEST_F(Errors, ColumnsCountCharacters) {
  EXPECT_EQ(refusal("job = [ { name = \"é中\", seed = -1, train_file = \"train.tsv\", model = { preset = "
                    "\"bert-tiny\", "
                    "vocab = \"vocab.txt\" } } ]\n"),
            "f.toml:1:31: error: seed is -1; allowed: an integer >= 0");
}

TEST_F(Errors, TheFileItself) {
  const auto read = [](const std::filesystem::path& file) {
    try {
      static_cast<void>(read_fleet_file(file));
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(without_folder(read(folder_ / "no.toml")), "no.toml: error: cannot be opened");
  EXPECT_EQ(read(folder_), folder_.string() + ": error: a folder; the fleet file is wanted");
}

}  // namespace
}  // namespace shoal::engine
