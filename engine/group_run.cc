#include "engine/group_run.h"

#include <algorithm>

#include "engine/job_export.h"
#include "kernels/base/error.h"

namespace shoal::engine {

GroupRun::GroupRun(Device& device, std::vector<const PreparedJob*> jobs, const FleetSpec& fleet,
                   Observer& observer, const std::atomic<bool>& stop)
    : fleet_(fleet),
      observer_(observer),
      stop_(stop),
      group_(device, jobs, fleet.slots.value_or(0)),
      queue_(jobs.begin(), jobs.end()),
      slots_(static_cast<std::size_t>(group_.slots())) {}

std::vector<JobResult> GroupRun::run() {
  fill_free_slots();
  const auto in_phase = [&](Phase phase) {
    return std::any_of(slots_.begin(), slots_.end(),
                       [&](const Resident& r) { return r.job != nullptr && r.job->phase() == phase; });
  };
  while (!stop_.load()) {
    if (in_phase(Phase::kEvaluate)) {
      step(StepKind::kEvaluate);
    } else if (in_phase(Phase::kTrain)) {
      step(StepKind::kTrain);
    } else {
      break;
    }
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      const JobRun* job = slots_[slot].job.get();
      if (job != nullptr && (job->phase() == Phase::kDone || job->phase() == Phase::kFailed)) end_job(slot);
    }
    fill_free_slots();
    observer_.on_tick();
  }
  for (std::size_t slot = 0; slot < slots_.size(); ++slot)
    if (slots_[slot].job != nullptr) end_job(slot);
  for (const PreparedJob* job : queue_)
    results_.push_back({.job = job->index, .status = JobStatus::kStopped});
  return std::move(results_);
}

std::filesystem::path GroupRun::folder_of(const PreparedJob& job) const {
  return fleet_.output_dir / std::filesystem::path(job.spec->name);
}

void GroupRun::fill_free_slots() {
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    while (slots_[slot].job == nullptr && !queue_.empty()) {
      const PreparedJob& job = *queue_.front();
      queue_.pop_front();
      Resident& resident = slots_[slot];
      resident.job = std::make_unique<JobRun>(job, static_cast<std::int64_t>(slot));
      observer_.on_job_start(job.index, static_cast<std::int64_t>(slot));
      try {
        std::filesystem::create_directories(folder_of(job));
        resident.log = std::make_unique<MetricsLog>(folder_of(job) / "metrics.jsonl");
        std::vector<std::string> notes;
        group_.fill_slot(static_cast<std::int64_t>(slot), job, notes);
        for (const std::string& note : notes) observer_.on_note(job.index, note);
      } catch (const std::exception& error) {
        resident.job->fail(error.what());
        end_job(slot);
      }
    }
  }
}

void GroupRun::step(StepKind kind) {
  const Phase phase = kind == StepKind::kTrain ? Phase::kTrain : Phase::kEvaluate;
  std::vector<std::size_t> order;
  std::vector<LaneEntry> entries;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::size_t slot = (turn_ + i) % slots_.size();
    if (slots_[slot].job == nullptr || slots_[slot].job->phase() != phase) continue;
    order.push_back(slot);
    entries.push_back(slots_[slot].job->next());
  }
  const std::size_t n = group_.lane().fitting(entries);
  const std::vector<LaneResult> results = group_.lane().run(kind, std::span(entries).first(n));
  for (std::size_t i = 0; i < n; ++i) take_result(slots_[order[i]], results[i]);
  turn_ = (order[n - 1] + 1) % slots_.size();
}

void GroupRun::take_result(Resident& resident, const LaneResult& result) {
  JobRun& job = *resident.job;
  const JobEvents events = job.absorb(result, group_.lane().shape().ld);
  try {
    const JobProgress progress = job.progress();
    if (events.updated) {
      observer_.on_progress(progress);
      if (job.job().plan->logs_after(progress.update)) resident.log->progress(progress);
    }
    if (!events.evaluation) return;
    observer_.on_evaluation(progress.job, progress.epoch, progress.update, *events.evaluation);
    resident.log->evaluation(progress.epoch, progress.update, *events.evaluation);
    if (events.best && job.job().spec->load_best_model_at_end) {
      resident.best_row.resize(static_cast<std::size_t>(group_.layout().row_elements()));
      group_.memory().read(job.slot(), resident.best_row);
    }
  } catch (const std::exception& error) {
    job.fail(error.what());
  }
}

void GroupRun::end_job(std::size_t slot) {
  Resident resident = std::move(slots_[slot]);
  slots_[slot] = {};
  JobRun& job = *resident.job;
  const std::filesystem::path folder = folder_of(job.job());
  if (job.phase() == Phase::kDone) {
    try {
      std::vector<float> row = std::move(resident.best_row);
      if (row.empty()) {
        row.resize(static_cast<std::size_t>(group_.layout().row_elements()));
        group_.memory().read(job.slot(), row);
      }
      export_job(folder, job.job(), group_.layout(), row);
    } catch (const std::exception& error) {
      job.fail(error.what());
    }
  }
  JobResult result = job.result();
  result.folder = folder;
  observer_.on_job_end(result);
  results_.push_back(std::move(result));
}

}  // namespace shoal::engine
