// How many updates a job makes, which rows each of them sees, and after which of them it is evaluated;
// counted as transformers' Trainer counts.
//
// A window is what one update sees: gradient_accumulation_steps batches, consecutive in the epoch's order
// (data/order.h). It never reaches into the next epoch: the last of an epoch may hold fewer batches, and its
// last batch fewer rows unless dataloader_drop_last cuts that batch off. The last epoch may end early
// (max_steps, fractional num_train_epochs).
//
// Updates are named by their index from 0 (`update`) where they are about to be made, and by how many are
// complete (`done`, from 1; Trainer's global_step) after they were.
#pragma once

#include <cstdint>

#include "engine/job_spec.h"

namespace shoal::engine {

struct Window {
  std::int64_t epoch = 0;
  std::int64_t first_row = 0;  // index in the epoch's order
  std::int64_t rows = 0;
};

// The job's strategy with its default: by epoch where there are rows to evaluate on (a validation file, a
// split or a fold). Refuses a job that is to be evaluated without.
Strategy resolved_eval_strategy(const JobSpec& job);

class TrainingPlan {
 public:
  // rows: of the training set. Refuses settings that lead to no update.
  TrainingPlan(const JobSpec& job, std::int64_t rows);

  std::int64_t updates() const { return updates_; }
  std::int64_t updates_per_epoch() const { return updates_per_epoch_; }
  std::int64_t epochs() const;  // begun

  Window window(std::int64_t update) const;  // 0 <= update < updates()

  double epoch_after(std::int64_t done) const;    // fractional, by batches; 0 <= done <= updates()
  bool evaluates_after(std::int64_t done) const;  // at the end always, unless the strategy is "no"
  bool logs_after(std::int64_t done) const;       // every logging_steps

 private:
  std::int64_t rows_;
  std::int64_t batch_;
  std::int64_t accumulation_;
  std::int64_t batches_per_epoch_;
  std::int64_t updates_per_epoch_;
  std::int64_t updates_;
  Strategy eval_strategy_;
  std::int64_t eval_steps_;
  std::int64_t logging_steps_;
};

}  // namespace shoal::engine
