#include "engine/config/keys.h"

#include <algorithm>

#include "data/text_error.h"
#include "engine/config/folds.h"
#include "engine/config/scheduler_kwargs.h"
#include "engine/config/special_bindings.h"

namespace shoal::engine::config {
namespace {

using Job = JobSpec;

// In the order of the documentation: what to train on, how, when to look, how to keep it.
// clang-format off
std::vector<Key<JobSpec>> make_job_keys() {
  const std::string same = "same", script = "same (in run_glue.py)", ours = "-";
  const std::string in_config = "that of config.json";
  return {
      {"name", "must be given", ours,
       "Name of the job and of its folder under output_dir; \"a/b\" makes nested folders.",
       job_name()},
      {"model", "must be given", "model_name_or_path",
       "What to start from: a Hugging Face folder, a hub id that is in the local cache, or "
       "{ preset = \"bert-tiny\", vocab = \"vocab.txt\" } for random weights.",
       model()},
      {"task", {}, "a pipeline's task",
       "What the head does.",
       choice(&Job::task, {{"text-classification", "text-classification"}})
           .with_later({"token-classification", "question-answering", "multiple-choice", "fill-mask",
                        "sentence-similarity"})},
      {"problem_type", "\"single_label_classification\"", "same (in config.json)",
       "Whether the labels are classes or numbers to be met.",
       choice(&Job::problem_type, {{"single_label_classification", ProblemType::kSingleLabelClassification},
                                   {"regression", ProblemType::kRegression}})
           .with_later({"multi_label_classification"})},
      {"train_file", "must be given", script,
       "Rows to train on: .tsv, .csv, .jsonl.",
       input_file(&Job::train_file)},
      {"validation_file", "none: no evaluation", script,
       "Rows to evaluate on.",
       input_file(&Job::validation_file)},
      {"validation_split_percentage", "none", "same (in run_mlm.py, default 5)",
       "Instead of a validation_file: so many of a hundred rows of train_file are evaluated on, not trained on.",
       integer(&Job::validation_split_percentage, from_to(1, 99))},
      {"folds", "none", ours,
       "Instead of a validation_file: makes a job a fold, evaluated on that part of train_file and trained on the "
       "others. n parts of about the same labels; group, a column, whose rows of one value stay together; "
       "repeats, to cut anew so many times; seed (0); only, for that one fold.",
       folds()},
      {"test_file", "none", script,
       "Rows whose predictions are written to predictions.tsv when the job ends.",
       input_file(&Job::test_file)},
      {"text", {}, ours,
       "Column of the text: its name, or its number from 1.",
       column(&Job::text)},
      {"text_pair", "none", ours,
       "Column of the second text, for pairs.",
       column(&Job::text_pair)},
      {"label", {}, ours,
       "Column of the label.",
       column(&Job::label)},
      {"header", {}, ours,
       "Whether the first row of a TSV or CSV holds the column names.",
       boolean(&Job::header)},
      {"delimiter", "by the file's extension", ours,
       "What separates the columns; a comma or a semicolon makes a CSV of any file, a tab a TSV.",
       delimiter()},
      {"encoding", {}, ours,
       "Character encoding of the job's data files.",
       encoding()},
      {"encoding_errors", {}, ours,
       "Bytes that the encoding does not have: strict refuses the file, replace puts U+FFFD, ignore drops them.",
       choice(&Job::encoding_errors, {{"strict", "strict"}, {"replace", "replace"}, {"ignore", "ignore"}})},
      {"max_seq_length", {}, "same (in run_glue.py)",
       "Tokens of a row, [CLS] and [SEP] included; the rest is cut.",
       integer(&Job::max_seq_length, at_least(3))},
      {"max_train_samples", "all", script,
       "Train on the first so many rows only.",
       integer(&Job::max_train_samples, at_least(1))},
      {"max_eval_samples", "all", script,
       "Evaluate on the first so many rows only.",
       integer(&Job::max_eval_samples, at_least(1))},

      {"seed", {}, same,
       "Seed of the new head, the dropout and, without data_seed, the order of the rows.",
       integer(&Job::seed, at_least(0))},
      {"data_seed", "that of seed", same,
       "Seed of the order of the rows.",
       integer(&Job::data_seed, at_least(0))},
      {"per_device_train_batch_size", {}, "same, but per job, not per card",
       "Rows of a batch.",
       integer(&Job::per_device_train_batch_size, at_least(1))},
      {"gradient_accumulation_steps", {}, same,
       "Batches of one update; the loss is the mean over all their rows.",
       integer(&Job::gradient_accumulation_steps, at_least(1))},
      {"micro_tokens", "the smaller of batch x max_seq_length and 8192", ours,
       "Most tokens of a job in one pass; larger batches are cut into several passes, with the same result up to "
       "rounding.",
       integer(&Job::micro_tokens, at_least(3))},
      {"dataloader_drop_last", {}, same,
       "Leave out the last batch of an epoch where it is not full.",
       boolean(&Job::dataloader_drop_last)},
      {"num_train_epochs", {}, same,
       "Passes over the training rows; 0.5 is half a pass.",
       number(&Job::num_train_epochs, above(0))},
      {"max_steps", {}, same,
       "Updates in all; if positive it overrides num_train_epochs.",
       max_steps()},
      {"learning_rate", {}, same,
       "The highest rate of the schedule.",
       number(&Job::learning_rate, above(0))},
      {"lr_scheduler_type", {}, same,
       "How the rate moves after the warm-up.",
       choice(&Job::lr_scheduler_type, {{"linear", Scheduler::kLinear}, {"cosine", Scheduler::kCosine},
                                        {"cosine_with_restarts", Scheduler::kCosineWithRestarts},
                                        {"cosine_with_min_lr", Scheduler::kCosineWithMinLr},
                                        {"polynomial", Scheduler::kPolynomial},
                                        {"inverse_sqrt", Scheduler::kInverseSqrt},
                                        {"constant", Scheduler::kConstant},
                                        {"constant_with_warmup", Scheduler::kConstantWithWarmup},
                                        {"warmup_stable_decay", Scheduler::kWarmupStableDecay}})
           .with_later({"reduce_lr_on_plateau", "cosine_warmup_with_min_lr", "greedy"})},
      {"lr_scheduler_kwargs", "none", same,
       "Settings of the schedule: " + scheduler_kwargs_text() + ".",
       scheduler_kwargs()},
      {"warmup_steps", {}, same,
       "Updates of linear warm-up, or below 1 their share of all updates, rounded up.",
       warmup_steps()},
      {"optim", {}, "same (default adamw_torch_fused, which means the same here)",
       "The optimizer.",
       choice(&Job::optim, {{"adamw_torch", "adamw_torch"}, {"adamw_torch_fused", "adamw_torch"}})
           .with_later({"lamb", "lars"})},
      {"weight_decay", {}, same,
       "AdamW's decay; none on biases and LayerNorm.",
       number(&Job::weight_decay, at_least(0))},
      {"adam_beta1", {}, same,
       "AdamW's memory of the gradient.",
       number(&Job::adam_beta1, from_to_below(0, 1))},
      {"adam_beta2", {}, same,
       "AdamW's memory of the squared gradient.",
       number(&Job::adam_beta2, from_to_below(0, 1))},
      {"adam_epsilon", {}, same,
       "AdamW's epsilon.",
       number(&Job::adam_epsilon, above(0))},
      {"max_grad_norm", {}, same,
       "Clip the gradient of an update to this norm; 0 does not clip.",
       number(&Job::max_grad_norm, at_least(0))},
      {"label_smoothing_factor", {}, same,
       "Share of the target that is spread over all labels.",
       number(&Job::label_smoothing_factor, from_to_below(0, 1))},
      {"hidden_dropout_prob", in_config, "same (in config.json)",
       "Dropout of the hidden states.",
       number(&Job::hidden_dropout_prob, from_to_below(0, 1))},
      {"attention_probs_dropout_prob", in_config, "same (in config.json)",
       "Dropout of the attention weights.",
       number(&Job::attention_probs_dropout_prob, from_to_below(0, 1))},
      {"classifier_dropout", in_config, "same (in config.json)",
       "Dropout before the classifier.",
       number(&Job::classifier_dropout, from_to_below(0, 1))},
      {"precision", {}, "bf16 = true is \"bf16\"",
       "Arithmetic of the heavy parts; auto is bf16 where the device is fast at it, else fp32. Master weights, "
       "sums and optimizer are always fp32.",
       choice(&Job::precision, {{"auto", Precision::kAuto}, {"bf16", Precision::kBf16}, {"fp32", Precision::kFp32}})},
      {"gemm", {}, ours,
       "Whose matrix products: the engine's own, whose bits depend on the job alone; auto means own; a library's are not "
       "yet in this version of shoal.",
       gemm()},

      {"eval_strategy", "epoch where there are rows to evaluate on, else no", "same (default no)",
       "When to evaluate.",
       choice(&Job::eval_strategy, {{"no", Strategy::kNo}, {"steps", Strategy::kSteps}, {"epoch", Strategy::kEpoch}})},
      {"eval_steps", {}, "same (default none: that of logging_steps)",
       "Updates between evaluations, for eval_strategy = \"steps\".",
       integer(&Job::eval_steps, at_least(1))},
      {"logging_steps", {}, "same (default 500)",
       "Updates between lines of metrics.jsonl.",
       integer(&Job::logging_steps, at_least(1))},
      {"metric_for_best_model", "loss", "same, with or without eval_",
       "The metric that says which evaluation is best.",
       metric()},
      {"greater_is_better", "known of the metric", same,
       "Whether a higher metric is better.",
       boolean(&Job::greater_is_better)},
      {"load_best_model_at_end", {}, same,
       "Keep the weights of the best evaluation instead of the last ones.",
       boolean(&Job::load_best_model_at_end)},
      {"early_stopping_patience", "none", "EarlyStoppingCallback's",
       "Stop after so many evaluations in a row without a better metric_for_best_model.",
       integer(&Job::early_stopping_patience, at_least(1))},
      {"early_stopping_threshold", {}, "EarlyStoppingCallback's",
       "How much better an evaluation must be to count.",
       number(&Job::early_stopping_threshold, at_least(0))},
      {"save_dtype", {}, ours,
       "Number format of the weights that are written.",
       choice(&Job::save_dtype, {{"float32", SaveDtype::kFloat32}, {"bfloat16", SaveDtype::kBfloat16},
                                 {"float16", SaveDtype::kFloat16}})},
  };
}

std::vector<Key<FleetSpec>> make_fleet_keys() {
  return {
      {"output_dir", "runs/NAME beside the fleet file NAME.toml", "same",
       "Folder of the run.",
       output_folder(&FleetSpec::output_dir)},
      {"slots", "auto", "-",
       "Jobs that train at the same time; auto takes all that fit.",
       slots()},
      {"device", {}, "-",
       "What to compute on; `shoal doctor` lists the devices of this build.",
       text(&FleetSpec::device)},
      {"threads", {}, "-",
       "Threads of the CPU device; 0 takes all cores. Results do not depend on it.",
       integer(&FleetSpec::threads, at_least(0))},
      {"on_error", {}, "-",
       "What a mistake that shows before training does: refuse stops the fleet, skip fails that job and trains the "
       "others. Later faults always fail their job alone.",
       choice(&FleetSpec::on_error, {{"refuse", OnError::kRefuse}, {"skip", OnError::kSkip}})},
      {"price_per_hour", "none", "-",
       "What an hour of the machine costs, in any money: the results say what a job cost.",
       number(&FleetSpec::price_per_hour, at_least(0))},
      {"cache_dir", "none: nothing is kept", "-",
       "Folder where tokenised files are kept for the next run.",
       output_folder(&FleetSpec::cache_dir)},
      {"report_to", "\"none\"", "same",
       "Services to report to.",
       report_to()},
  };
}
// clang-format on

template <typename Keys>
auto find(const Keys& keys, std::string_view name) -> decltype(keys.data()) {
  for (const auto& key : keys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

template <typename Keys>
std::vector<std::string> names_of(const Keys& keys) {
  std::vector<std::string> names;
  for (const auto& key : keys) names.push_back(key.name);
  return names;
}

// A number in quotes is the commonest slip: the value shown alone would not tell.
bool is_quoted_number(const Value& value) {
  if (value.type != Value::Type::kText || value.written.empty()) return false;
  return value.written.find_first_not_of("0123456789.+-eE_") == std::string::npos;
}

}  // namespace

const std::vector<Key<JobSpec>>& job_keys() {
  static const std::vector<Key<JobSpec>> keys = make_job_keys();
  return keys;
}

const std::vector<Key<FleetSpec>>& fleet_keys() {
  static const std::vector<Key<FleetSpec>> keys = make_fleet_keys();
  return keys;
}

const Key<JobSpec>* find_job_key(std::string_view name) {
  return find(job_keys(), name);
}
const Key<FleetSpec>* find_fleet_key(std::string_view name) {
  return find(fleet_keys(), name);
}
std::vector<std::string> job_key_names() {
  return names_of(job_keys());
}
std::vector<std::string> fleet_key_names() {
  return names_of(fleet_keys());
}

template <typename Spec>
void set_key(const Key<Spec>& key, Spec& spec, const Value& value, const Context& context) {
  bool done = false;
  try {
    done = key.binding.set(spec, value, context);
  } catch (const Missing& missing) {
    throw Missing(key.name + ": " + missing.what());
  } catch (const Error& error) {
    throw Error(key.name + ": " + error.what());
  }
  if (done) return;
  const std::vector<std::string>& later = key.binding.later;
  if (std::ranges::find(later, value.written) != later.end()) {
    throw Error(fmt::format("{} = {}: not yet in this version of shoal", key.name, value.shown()) +
                data::allowed_and_nearest("", key.binding.choices));
  }
  std::string what = fmt::format("{} is {}", key.name, value.shown());
  if (!key.binding.choices.empty()) {
    what += data::allowed_and_nearest(value.written, key.binding.choices);
  } else {
    what += "; allowed: " + key.allowed_text();
    if (is_quoted_number(value)) what += "; numbers are written without quotes";
  }
  throw Error(what);
}

template void set_key(const Key<JobSpec>&, JobSpec&, const Value&, const Context&);
template void set_key(const Key<FleetSpec>&, FleetSpec&, const Value&, const Context&);

}  // namespace shoal::engine::config
