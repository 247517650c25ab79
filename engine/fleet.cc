#include "engine/fleet.h"

#include <algorithm>

#include "engine/group.h"
#include "engine/group_run.h"
#include "engine/prepare.h"
#include "engine/run_report.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

constexpr std::size_t kShownErrors = 20;

// A run's folder is new, or an earlier run's that the user gave up.
void open_output(const FleetSpec& fleet) {
  namespace fs = std::filesystem;
  const fs::path& folder = fleet.output_dir;
  const fs::path results = folder / "results.csv";
  if (fs::exists(folder) && !(fs::is_directory(folder) && fs::is_empty(folder))) {
    require(fleet.overwrite, "{}: exists already; --overwrite replaces it", folder.string());
    require(fs::is_regular_file(results), "{}: is not a run of shoal (no results.csv): not overwritten",
            folder.string());
    fs::remove_all(folder);
  }
  std::error_code error;
  fs::create_directories(folder, error);
  require(!error, "{}: cannot be made: {}", folder.string(), error.message());
}

std::string joined(const std::vector<std::string>& errors) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kShownErrors, errors.size()); ++i) text += (i ? "\n" : "") + errors[i];
  if (errors.size() > kShownErrors)
    text += fmt::format("\n... and {} more errors", errors.size() - kShownErrors);
  return text;
}

// Reads the weights once to see that they are whole; slots read them again when they are filled.
void check_weights(const PreparedJob& job) {
  if (job.folder.empty()) return;
  const models::Layout layout = models::layout_of(job.config, *job.head, job.extents());
  std::vector<float> row(static_cast<std::size_t>(layout.row_elements()));
  std::vector<std::string> notes;
  initial_row(job, layout, row, notes);
}

struct Prepared {
  std::vector<PreparedJob> jobs;
  std::vector<JobResult> failed;
};

Prepared prepare_jobs(const FleetSpec& fleet, Preparer& preparer) {
  Prepared prepared;
  std::vector<std::string> errors;
  std::map<std::filesystem::path, bool> checked;
  for (std::size_t i = 0; i < fleet.jobs.size(); ++i) {
    try {
      PreparedJob job = preparer.prepare(fleet.jobs[i], static_cast<std::int64_t>(i));
      if (!checked[job.folder]) check_weights(job);
      checked[job.folder] = true;
      prepared.jobs.push_back(std::move(job));
    } catch (const Error& error) {
      // Jobs that share a file share its error: shown once.
      if (std::find(errors.begin(), errors.end(), error.what()) == errors.end())
        errors.push_back(error.what());
      prepared.failed.push_back(
          {.job = static_cast<std::int64_t>(i), .status = JobStatus::kFailed, .reason = error.what()});
    }
  }
  if (!errors.empty() && fleet.on_error == OnError::kRefuse) throw Error(joined(errors));
  require(!prepared.jobs.empty(), "{}: no job can be trained\n{}", fleet.file.string(), joined(errors));
  return prepared;
}

FleetPlan plan_of(const FleetSpec& fleet, const Device& device, const Preparer& preparer) {
  FleetPlan plan{.device = device.description(), .jobs = static_cast<std::int64_t>(fleet.jobs.size())};
  for (const auto& dataset : preparer.datasets()) {
    ++plan.data_sets;
    plan.rows += dataset->stats.rows;
    plan.tokens += dataset->stats.tokens;
    plan.truncated += dataset->stats.truncated;
    plan.unknown += dataset->stats.unknown;
    plan.pieces += dataset->stats.pieces;
  }
  return plan;
}

}  // namespace

FleetResult train_fleet(const FleetSpec& fleet, Device& device, Observer& observer,
                        const std::atomic<bool>& stop) {
  Preparer preparer(device);
  Prepared prepared = prepare_jobs(fleet, preparer);
  open_output(fleet);

  FleetResult result{.jobs = std::move(prepared.failed)};
  FleetPlan plan = plan_of(fleet, device, preparer);
  const std::vector<std::vector<const PreparedJob*>> groups = group_jobs(prepared.jobs);
  for (const std::vector<const PreparedJob*>& jobs : groups) {
    const std::int64_t slots = resolve_slots(device, jobs, fleet.slots.value_or(0));
    plan.groups.push_back({.model = describe(jobs),
                           .jobs = static_cast<std::int64_t>(jobs.size()),
                           .slots = slots,
                           .bytes = static_cast<std::int64_t>(rows_bytes(jobs, slots))});
    plan.slots = std::max(plan.slots, slots);
  }
  observer.on_plan(plan);
  for (const PreparedJob& job : prepared.jobs)
    for (const std::string& note : job.notes) observer.on_note(job.index, note);
  for (const JobResult& failed : result.jobs) observer.on_job_end(failed);

  for (const std::vector<const PreparedJob*>& jobs : groups) {
    GroupRun run(device, jobs, fleet, observer, stop);
    for (JobResult& job : run.run()) result.jobs.push_back(std::move(job));
    write_results(fleet.output_dir / "results.csv", fleet, result.jobs);
  }
  std::sort(result.jobs.begin(), result.jobs.end(),
            [](const JobResult& a, const JobResult& b) { return a.job < b.job; });
  write_results(fleet.output_dir / "results.csv", fleet, result.jobs);
  result.stopped = std::any_of(result.jobs.begin(), result.jobs.end(),
                               [](const JobResult& job) { return job.status == JobStatus::kStopped; });
  return result;
}

}  // namespace shoal::engine
