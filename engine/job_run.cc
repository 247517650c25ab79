#include "engine/job_run.h"

#include <algorithm>
#include <cmath>

#include "data/order.h"
#include "data/pack.h"
#include "engine/adamw_scalars.h"
#include "engine/group.h"
#include "engine/schedule.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

// "3, 17, 20 and 5 more"
std::string listed(const std::vector<std::int64_t>& lines) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, lines.size()); ++i)
    text += fmt::format("{}{}", i ? ", " : "", lines[i]);
  if (lines.size() > kShown) text += fmt::format(" and {} more", lines.size() - kShown);
  return text;
}

}  // namespace

JobRun::JobRun(const PreparedJob& job, std::int64_t slot) : job_(job), slot_(slot) {
  entry_.slot = slot;
  entry_.n_labels = job.labels.size();
  entry_.seed = job.spec->seed;
  entry_.hidden_dropout = job.config.hidden_dropout_prob;
  entry_.attention_dropout = job.config.attention_probs_dropout_prob;
  entry_.classifier_dropout = job.config.classifier_dropout.value_or(job.config.hidden_dropout_prob);
  entry_.max_norm = static_cast<float>(job.spec->max_grad_norm);
  progress_.job = job.index;
  progress_.updates = job.plan->updates();
  start_window();
}

void JobRun::start_window() {
  const JobSpec& spec = *job_.spec;
  const Window window = job_.plan->window(update_);
  if (window.epoch != epoch_) {
    epoch_ = window.epoch;
    order_ = data::epoch_order(job_.rows.train.rows(), spec.data_seed.value_or(spec.seed), epoch_);
    for (std::int32_t& row : order_) row = job_.rows.train[row];
  }
  const auto first = order_.begin() + window.first_row;
  window_rows_.assign(first, first + window.rows);
  const data::Dataset& dataset = job_.rows.train.dataset();
  cuts_ = data::cut_window(dataset, window_rows_, spec.per_device_train_batch_size, job_.micro_tokens);
  micro_ = 0;
  window_loss_ = 0;
  const double rate = learning_rate(spec, update_, job_.plan->updates());
  progress_.learning_rate = rate;
  entry_.dataset = &dataset;
  entry_.inv_items = 1.0f / static_cast<float>(window.rows);
  entry_.smoothing = static_cast<float>(spec.label_smoothing_factor);
  entry_.update_index = static_cast<std::int32_t>(update_);
  entry_.scalars = adamw_scalars(spec, rate, update_ + 1);
  next_train_entry();
}

void JobRun::next_train_entry() {
  entry_.rows = data::micro_batch(window_rows_, cuts_, micro_);
  entry_.micro = static_cast<std::int32_t>(micro_);
  entry_.update = micro_ + 1 == cuts_.size();
}

void JobRun::start_evaluation(Phase phase, const data::Subset& rows) {
  phase_ = phase;
  scores_.emplace(job_.labels.size(), is_regression(*job_.spec));
  eval_rows_.resize(static_cast<std::size_t>(rows.rows()));
  for (std::size_t i = 0; i < eval_rows_.size(); ++i) eval_rows_[i] = rows[static_cast<std::int64_t>(i)];
  eval_cuts_ = data::cut_window(rows.dataset(), eval_rows_, kEvalRows, job_.micro_tokens);
  eval_micro_ = 0;
  entry_.dataset = &rows.dataset();
  entry_.inv_items = 1;
  entry_.smoothing = 0;
  entry_.update = false;
  next_evaluation_entry();
}

void JobRun::next_evaluation_entry() {
  entry_.rows = data::micro_batch(eval_rows_, eval_cuts_, eval_micro_);
}

JobEvents JobRun::absorb(const LaneResult& result, std::int64_t ld) {
  SHOAL_CHECK(phase_ == Phase::kTrain || phase_ == Phase::kEvaluate || phase_ == Phase::kTest);
  return phase_ == Phase::kTrain ? absorb_training(result) : absorb_evaluation(result, ld);
}

// True if the job has failed on this result.
bool JobRun::refuse_nonfinite(const LaneResult& result) {
  const bool loss = !std::isfinite(result.loss);
  if (!loss && !result.nonfinite) return false;
  std::vector<std::int64_t> lines;
  for (std::size_t i = 0; i < result.row_loss.size(); ++i) {
    if (!std::isfinite(result.row_loss[i]))
      lines.push_back(entry_.dataset->line[static_cast<std::size_t>(entry_.rows[i])]);
  }
  std::string where = fmt::format("non-finite {} at update {}", loss ? "loss" : "gradient", update_ + 1);
  if (!lines.empty())
    where += fmt::format(", rows at lines {} of {}", listed(lines), entry_.dataset->file.string());
  fail(where + "; no update was made with it");
  return true;
}

JobEvents JobRun::absorb_training(const LaneResult& result) {
  if (refuse_nonfinite(result)) return {};
  window_loss_ += static_cast<double>(result.loss);
  progress_.tokens += entry_.dataset->length(entry_.rows);
  if (!entry_.update) {
    ++micro_;
    next_train_entry();
    return {};
  }
  ++update_;
  progress_.update = update_;
  progress_.epoch = job_.plan->epoch_after(update_);
  progress_.loss = window_loss_;
  progress_.grad_norm = static_cast<double>(result.norm);
  if (job_.plan->evaluates_after(update_)) {
    start_evaluation(Phase::kEvaluate, job_.rows.validation);
  } else {
    go_on();
  }
  JobEvents events;
  events.updated = true;
  return events;
}

// To the next window; after the last one to the test file; after that to the end.
void JobRun::go_on() {
  if (update_ < job_.plan->updates() && !stopped_early_) {
    phase_ = Phase::kTrain;
    start_window();
  } else if (job_.rows.test) {
    start_evaluation(Phase::kTest, job_.rows.test);
  } else {
    phase_ = Phase::kDone;
  }
}

JobEvents JobRun::absorb_evaluation(const LaneResult& result, std::int64_t ld) {
  const std::int64_t n = job_.labels.size();
  const bool labelled = entry_.dataset->label.front() >= 0;
  for (std::size_t i = 0; i < entry_.rows.size(); ++i) {
    const float* logits = result.logits + static_cast<std::int64_t>(i) * ld;
    if (phase_ == Phase::kTest) test_logits_.insert(test_logits_.end(), logits, logits + n);
    if (labelled) scores_->add(*entry_.dataset, entry_.rows[i], logits, result.row_loss[i]);
  }
  JobEvents events;
  if (++eval_micro_ < eval_cuts_.size()) {
    next_evaluation_entry();
  } else if (phase_ == Phase::kTest) {
    if (labelled) test_ = scores_->metrics();
    phase_ = Phase::kDone;
  } else {
    finish_evaluation(events);
    go_on();
  }
  return events;
}

void JobRun::finish_evaluation(JobEvents& events) {
  last_ = scores_->metrics();
  const double epoch = job_.plan->epoch_after(update_);
  if (const std::string note = scores_->note(); !note.empty() && !noted_undefined_) {
    noted_undefined_ = true;
    events.notes.push_back(fmt::format("epoch {:g}: {}", epoch, note));
  }
  const double value = find_metric(last_, job_.best_metric.name).value();
  count_patience(value, events);
  events.best = !best_value_ || is_better(value, *best_value_, job_.best_metric.greater);
  if (events.best) {
    best_value_ = value;
    best_ = last_;
    best_epoch_ = epoch;
  }
  events.evaluation = last_;
}

// Before the best is renewed, as Trainer has it.
void JobRun::count_patience(double value, JobEvents& events) {
  if (!job_.spec->early_stopping_patience) return;
  const bool progress =
      !best_value_ || (is_better(value, *best_value_, job_.best_metric.greater) &&
                       !(std::abs(value - *best_value_) <= job_.spec->early_stopping_threshold));
  without_progress_ = progress ? 0 : without_progress_ + 1;
  if (without_progress_ < *job_.spec->early_stopping_patience || update_ == job_.plan->updates()) return;
  stopped_early_ = true;
  reason_ = fmt::format("stopped early at epoch {:g}: {} evaluations without a better {}",
                        job_.plan->epoch_after(update_), without_progress_, job_.best_metric.name);
  events.notes.push_back(reason_);
}

void JobRun::fail(std::string reason) {
  phase_ = Phase::kFailed;
  reason_ = std::move(reason);
}

JobProgress JobRun::progress() const {
  JobProgress progress = progress_;
  progress.status = phase_ == Phase::kTrain                                ? JobStatus::kTraining
                    : phase_ == Phase::kEvaluate || phase_ == Phase::kTest ? JobStatus::kEvaluating
                    : phase_ == Phase::kDone                               ? JobStatus::kDone
                                                                           : JobStatus::kFailed;
  progress.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  return progress;
}

JobResult JobRun::result() const {
  const JobProgress now = progress();
  const bool ended = phase_ == Phase::kDone || phase_ == Phase::kFailed;
  return {.job = job_.index,
          .status = ended ? now.status : JobStatus::kStopped,
          .reason = reason_,
          .best = best_,
          .best_epoch = best_epoch_,
          .last = last_,
          .test = test_,
          .updates = update_,
          .tokens = now.tokens,
          .seconds = now.seconds,
          .card_seconds = card_seconds_,
          .folder = {}};
}

}  // namespace shoal::engine
