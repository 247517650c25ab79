// One job, fully resolved: what the fleet file said after defaults, presets, sweep and templates.
// Names, meanings and defaults are those of transformers' TrainingArguments where one exists
// (engine/config/keys.cc is the one table of names, ranges and documentation).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/build_dataset.h"

namespace shoal::engine {

// A folder as Hugging Face leaves it, or a preset with random weights and a vocabulary.
struct ModelSource {
  std::filesystem::path folder;  // empty: preset
  std::string preset;            // "bert-tiny", ...
  std::filesystem::path vocab;   // vocab.txt or a tokenizer folder, of a preset
};

enum class Precision : std::uint8_t { kAuto, kBf16, kFp32 };
enum class Scheduler : std::uint8_t {
  kLinear,
  kCosine,
  kCosineWithRestarts,
  kCosineWithMinLr,
  kPolynomial,
  kInverseSqrt,
  kConstant,
  kConstantWithWarmup,
  kWarmupStableDecay,
};
enum class ProblemType : std::uint8_t { kSingleLabelClassification, kRegression };
enum class Strategy : std::uint8_t { kNo, kSteps, kEpoch };
enum class SaveDtype : std::uint8_t { kFloat32, kBfloat16, kFloat16 };

// One fold of a job whose train_file is cut for cross-validation: the rows of part `fold % n` of repeat
// `fold / n` are what it is evaluated on, the others what it trains on. The assignment depends on the
// file, n, group and seed alone.
struct Fold {
  std::int64_t fold = 0;  // in [0, n x repeats)
  std::int64_t n = 0;     // >= 2
  std::uint64_t seed = 0;
  std::optional<data::Column> group = {};  // rows of one group are in one part

  bool operator==(const Fold&) const = default;
};

struct JobSpec {
  std::string name;                              // path-safe, unique in the fleet; "a/b" makes nested folders
  std::map<std::string, std::string> variables;  // sweep and each values by key, as written, for results.csv
  std::string where;                             // "demo.toml:12:1" of the [[job]], for messages
  std::string
      refused;  // on_error = "skip": why it cannot train, as its fleet file shows; empty: nothing known

  ModelSource model;
  std::string task = "text-classification";
  std::optional<ProblemType> problem_type;  // absent: single-label classification
  Precision precision = Precision::kAuto;

  std::filesystem::path train_file;
  std::filesystem::path validation_file;                    // empty: none
  std::filesystem::path test_file;                          // empty: none; its rows end in predictions.tsv
  std::optional<std::int64_t> validation_split_percentage;  // of train_file, in [1, 99]
  std::optional<Fold> fold;
  data::Column text = data::Column::named("text");
  std::optional<data::Column> text_pair;
  data::Column label = data::Column::named("label");
  bool header = true;
  std::optional<std::string> delimiter;
  std::string encoding = "utf-8";          // a name that iconv knows
  std::string encoding_errors = "strict";  // "strict", "replace", "ignore", as Python's
  std::int64_t max_seq_length = 128;
  std::optional<std::int64_t> max_train_samples;
  std::optional<std::int64_t> max_eval_samples;

  std::uint64_t seed = 42;
  std::optional<std::uint64_t> data_seed;  // absent: seed
  std::int64_t per_device_train_batch_size = 8;
  std::int64_t gradient_accumulation_steps = 1;
  std::optional<std::int64_t>
      micro_tokens;  // absent: min(batch x max_seq_length, 8192), at least max_seq_length
  bool dataloader_drop_last = false;

  double num_train_epochs = 3.0;
  std::int64_t max_steps = -1;  // > 0 overrides num_train_epochs
  double learning_rate = 5e-5;
  Scheduler lr_scheduler_type = Scheduler::kLinear;
  std::map<std::string, double> lr_scheduler_kwargs;  // by transformers' names
  double warmup_steps = 0;  // >= 1: updates; in [0, 1): share of all updates, rounded up
  std::string optim = "adamw_torch";
  double weight_decay = 0;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-8;
  double max_grad_norm = 1.0;  // 0: no clipping
  double label_smoothing_factor = 0;
  std::optional<double> hidden_dropout_prob;           // absent: config.json's
  std::optional<double> attention_probs_dropout_prob;  // absent: config.json's
  std::optional<double> classifier_dropout;            // absent: config.json's

  std::optional<Strategy> eval_strategy;  // absent: epoch where there is a validation file
  std::int64_t eval_steps = 500;          // updates
  std::int64_t logging_steps = 10;        // updates
  std::string metric_for_best_model;      // empty: loss
  std::optional<bool> greater_is_better;  // absent: known of the metric
  bool load_best_model_at_end = false;
  std::optional<std::int64_t> early_stopping_patience;  // evaluations without improvement
  double early_stopping_threshold = 0;                  // what counts as one
  SaveDtype save_dtype = SaveDtype::kFloat32;
};

enum class OnError : std::uint8_t { kRefuse, kSkip };

struct FleetSpec {
  std::filesystem::path file;  // the fleet file, for messages
  std::filesystem::path output_dir;
  std::string device = "auto";
  std::optional<std::int64_t> slots;  // absent: auto
  int threads = 0;                    // CPU device: 0 = all cores
  OnError on_error = OnError::kRefuse;
  std::optional<double> price_per_hour;  // of the machine, in the user's money
  std::filesystem::path cache_dir;       // of tokenised files; empty: none is kept
  bool overwrite = false;
  bool resume = false;  // jobs that are done stay as they are
  std::vector<JobSpec> jobs;
};

}  // namespace shoal::engine
