// A job in its slot: which micro-batch comes next, and what its result means.
//
// The phases: train window after window; evaluate where the plan says so; predict the test file's rows; done.
// The lane that carries its micro-batches is somebody else's; what a job does here depends on its own data
// and settings alone.
//
// Early stopping is transformers' EarlyStoppingCallback: an evaluation counts as progress if it is better
// than the best before it by more than the threshold; after early_stopping_patience others in a row training
// ends. (A NaN is worse than all, so what follows it may be progress; Trainer never recovers from one.)
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/lane.h"
#include "engine/metrics.h"
#include "engine/observer.h"
#include "engine/prepare.h"
#include "engine/scores.h"

namespace shoal::engine {

enum class Phase : std::uint8_t { kTrain, kEvaluate, kTest, kDone, kFailed };

// What happened at a step, for whoever logs and shows it.
struct JobEvents {
  bool updated = false;               // progress() is of a new update
  std::optional<Metrics> evaluation;  // an evaluation was completed
  bool best = false;                  // it is the best so far
  std::vector<std::string> notes;     // for the user, one line each
};

class JobRun {
 public:
  JobRun(const PreparedJob& job, std::int64_t slot);

  Phase phase() const { return phase_; }
  std::int64_t slot() const { return slot_; }
  const PreparedJob& job() const { return job_; }
  const std::string& reason() const { return reason_; }

  // The next micro-batch of this phase (kTrain, kEvaluate, kTest); the same until absorb() takes its result.
  const LaneEntry& next() const { return entry_; }

  // The result of next(). A non-finite loss or gradient fails the job, naming update and rows.
  JobEvents absorb(const LaneResult& result, std::int64_t ld);

  void fail(std::string reason);

  JobProgress progress() const;
  JobResult result() const;  // status by phase; what has not ended is kStopped
  // Of the test file, once done: [rows, labels].
  const std::vector<float>& test_logits() const { return test_logits_; }
  void add_card_seconds(double seconds) { card_seconds_ += seconds; }

 private:
  void start_window();
  void start_evaluation(Phase phase, const data::Subset& rows);
  void next_train_entry();
  void next_evaluation_entry();
  JobEvents absorb_training(const LaneResult& result);
  JobEvents absorb_evaluation(const LaneResult& result, std::int64_t ld);
  void finish_evaluation(JobEvents& events);
  void count_patience(double value, JobEvents& events);
  void go_on();
  bool refuse_nonfinite(const LaneResult& result);

  const PreparedJob& job_;
  std::int64_t slot_;
  Phase phase_ = Phase::kTrain;
  std::string reason_;
  LaneEntry entry_;

  // Training: the window in flight, and its micro-batches as ends in window_rows_.
  std::int64_t update_ = 0;  // completed
  std::int64_t epoch_ = -1;  // of order_
  std::vector<std::int32_t> order_;
  std::vector<std::int32_t> window_rows_;
  std::vector<std::size_t> cuts_;
  std::size_t micro_ = 0;
  double window_loss_ = 0;
  JobProgress progress_;

  // Evaluation, and prediction of the test file.
  std::vector<std::int32_t> eval_rows_;
  std::vector<std::size_t> eval_cuts_;
  std::size_t eval_micro_ = 0;
  std::optional<Scores> scores_;
  std::vector<float> test_logits_;

  std::optional<double> best_value_;
  Metrics best_, last_, test_;
  double best_epoch_ = 0;
  std::int64_t without_progress_ = 0;  // evaluations in a row
  bool stopped_early_ = false;
  bool noted_undefined_ = false;
  double card_seconds_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace shoal::engine
