#include "engine/group_run.h"

#include <algorithm>
#include <chrono>

#include "engine/job_export.h"
#include "engine/predictions_file.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

bool takes(const JobRun* job, StepKind kind) {
  if (job == nullptr) return false;
  if (kind == StepKind::kTrain) return job->phase() == Phase::kTrain;
  return job->phase() == Phase::kEvaluate || job->phase() == Phase::kTest;
}

// What an earlier run left of the job, which is trained anew.
void clear_job(const std::filesystem::path& folder) {
  for (const char* file : {"job.toml", "metrics.jsonl", "predictions.tsv"})
    std::filesystem::remove(folder / file);
}

}  // namespace

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
  const auto any_takes = [&](StepKind kind) {
    return std::any_of(slots_.begin(), slots_.end(),
                       [&](const Resident& r) { return takes(r.job.get(), kind); });
  };
  while (!stop_.load()) {
    if (any_takes(StepKind::kEvaluate)) {
      step(StepKind::kEvaluate);
    } else if (any_takes(StepKind::kTrain)) {
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
        clear_job(folder_of(job));
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
  std::vector<std::size_t> order;
  std::vector<LaneEntry> entries;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::size_t slot = (turn_ + i) % slots_.size();
    if (!takes(slots_[slot].job.get(), kind)) continue;
    order.push_back(slot);
    entries.push_back(slots_[slot].job->next());
  }
  const std::size_t n = group_.lane().fitting(entries);
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<LaneResult> results = group_.lane().run(kind, std::span(entries).first(n));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  double tokens = 0;
  for (std::size_t i = 0; i < n; ++i)
    tokens += static_cast<double>(entries[i].dataset->length(entries[i].rows));
  for (std::size_t i = 0; i < n; ++i) {
    const auto own = static_cast<double>(entries[i].dataset->length(entries[i].rows));
    slots_[order[i]].job->add_card_seconds(seconds * own / tokens);
    take_result(slots_[order[i]], results[i]);
  }
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
    for (const std::string& note : events.notes) observer_.on_note(progress.job, note);
    if (!events.evaluation) return prepare_test(resident);
    observer_.on_evaluation(progress.job, progress.epoch, progress.update, *events.evaluation);
    resident.log->evaluation(progress.epoch, progress.update, *events.evaluation);
    if (events.best && job.job().spec->load_best_model_at_end) {
      resident.best_row.resize(static_cast<std::size_t>(group_.layout().row_elements()));
      group_.memory().read(job.slot(), resident.best_row);
    }
    prepare_test(resident);
  } catch (const std::exception& error) {
    job.fail(error.what());
  }
}

// What is exported is what predicts the test file.
void GroupRun::prepare_test(Resident& resident) {
  if (resident.job->phase() != Phase::kTest || resident.holds_final_row) return;
  if (!resident.best_row.empty()) group_.memory().fill(resident.job->slot(), resident.best_row);
  resident.holds_final_row = true;
}

// job.toml comes last: with it the job is done.
void GroupRun::leave_files(Resident& resident, const std::filesystem::path& folder) {
  const JobRun& run = *resident.job;
  const PreparedJob& job = run.job();
  if (job.rows.test) {
    write_predictions(folder / "predictions.tsv", job.rows.test, job.labels, is_regression(*job.spec),
                      run.test_logits());
  }
  std::vector<float> row = std::move(resident.best_row);
  if (row.empty()) {
    row.resize(static_cast<std::size_t>(group_.layout().row_elements()));
    group_.memory().read(run.slot(), row);
  }
  export_job(folder, job, group_.layout(), row);
}

void GroupRun::end_job(std::size_t slot) {
  Resident resident = std::move(slots_[slot]);
  slots_[slot] = {};
  JobRun& job = *resident.job;
  const std::filesystem::path folder = folder_of(job.job());
  if (job.phase() == Phase::kDone) {
    try {
      leave_files(resident, folder);
    } catch (const std::exception& error) {
      job.fail(error.what());
    }
  }
  JobResult result = job.result();
  result.folder = folder;
  try {
    if (!result.test.empty()) resident.log->test(job.progress().epoch, result.updates, result.test);
  } catch (const std::exception& error) {
    observer_.on_note(result.job, error.what());  // the job itself is whole
  }
  observer_.on_job_end(result);
  results_.push_back(std::move(result));
}

}  // namespace shoal::engine
