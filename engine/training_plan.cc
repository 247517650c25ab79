#include "engine/training_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

// Updates travel to the device as 32 bits.
constexpr std::int64_t kMostUpdates = std::numeric_limits<std::int32_t>::max();

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return a / b + (a % b > 0 ? 1 : 0);
}

std::int64_t batches_of(const JobSpec& job, std::int64_t rows) {
  require(job.per_device_train_batch_size >= 1 && job.gradient_accumulation_steps >= 1,
          "{}: error: job {}: per_device_train_batch_size is {} and gradient_accumulation_steps {}; allowed: "
          "1 or more",
          job.where, job.name, job.per_device_train_batch_size, job.gradient_accumulation_steps);
  require(rows >= 1, "{}: error: job {}: there are no training rows", job.where, job.name);
  if (!job.dataloader_drop_last) return divide_up(rows, job.per_device_train_batch_size);
  require(rows >= job.per_device_train_batch_size,
          "{}: error: job {}: dataloader_drop_last drops the only batch: {} training rows, "
          "per_device_train_batch_size is {}",
          job.where, job.name, rows, job.per_device_train_batch_size);
  return rows / job.per_device_train_batch_size;
}

std::int64_t updates_of(const JobSpec& job, std::int64_t updates_per_epoch) {
  if (job.max_steps > 0) {
    require(job.max_steps <= kMostUpdates, "{}: error: job {}: max_steps is {}; allowed: at most {}",
            job.where, job.name, job.max_steps, kMostUpdates);
    return job.max_steps;
  }
  const double updates = std::ceil(job.num_train_epochs * static_cast<double>(updates_per_epoch));
  require(updates >= 1 && updates <= static_cast<double>(kMostUpdates),
          "{}: error: job {}: num_train_epochs is {}, which makes {} updates; allowed: 1 to {}", job.where,
          job.name, job.num_train_epochs, updates, kMostUpdates);
  return static_cast<std::int64_t>(updates);
}

}  // namespace

Strategy resolved_eval_strategy(const JobSpec& job) {
  const bool can = !job.validation_file.empty() || job.validation_split_percentage || job.fold;
  if (!job.eval_strategy) return can ? Strategy::kEpoch : Strategy::kNo;
  require(
      can || *job.eval_strategy == Strategy::kNo,
      "{}: error: job {}: eval_strategy asks for evaluations, but there is no validation_file, split or fold",
      job.where, job.name);
  return *job.eval_strategy;
}

TrainingPlan::TrainingPlan(const JobSpec& job, std::int64_t rows)
    : rows_(rows),
      batch_(job.per_device_train_batch_size),
      accumulation_(job.gradient_accumulation_steps),
      batches_per_epoch_(batches_of(job, rows)),
      updates_per_epoch_(divide_up(batches_per_epoch_, accumulation_)),
      updates_(updates_of(job, updates_per_epoch_)),
      eval_strategy_(resolved_eval_strategy(job)),
      eval_steps_(job.eval_steps),
      logging_steps_(job.logging_steps) {
  require(eval_steps_ >= 1 && logging_steps_ >= 1,
          "{}: error: job {}: eval_steps is {} and logging_steps {}; allowed: 1 or more", job.where, job.name,
          eval_steps_, logging_steps_);
}

std::int64_t TrainingPlan::epochs() const {
  return divide_up(updates_, updates_per_epoch_);
}

Window TrainingPlan::window(std::int64_t update) const {
  SHOAL_CHECK(update >= 0 && update < updates_);
  const std::int64_t first_batch = update % updates_per_epoch_ * accumulation_;
  const std::int64_t batches = std::min(accumulation_, batches_per_epoch_ - first_batch);
  const std::int64_t first_row = first_batch * batch_;
  // Where drop_last holds, the batches end before the rows do.
  return {update / updates_per_epoch_, first_row, std::min(batches * batch_, rows_ - first_row)};
}

double TrainingPlan::epoch_after(std::int64_t done) const {
  SHOAL_CHECK(done >= 0 && done <= updates_);
  const std::int64_t in_epoch = done % updates_per_epoch_ * accumulation_;
  return static_cast<double>(done / updates_per_epoch_) +
         static_cast<double>(in_epoch) / static_cast<double>(batches_per_epoch_);
}

bool TrainingPlan::evaluates_after(std::int64_t done) const {
  SHOAL_CHECK(done >= 1 && done <= updates_);
  if (eval_strategy_ == Strategy::kNo) return false;
  const std::int64_t every = eval_strategy_ == Strategy::kEpoch ? updates_per_epoch_ : eval_steps_;
  return done == updates_ || done % every == 0;
}

bool TrainingPlan::logs_after(std::int64_t done) const {
  SHOAL_CHECK(done >= 1 && done <= updates_);
  return done % logging_steps_ == 0;
}

}  // namespace shoal::engine
