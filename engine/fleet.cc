#include "engine/fleet.h"

#include <algorithm>

#include "engine/fleet_log.h"
#include "engine/group_run.h"
#include "engine/prepare_fleet.h"
#include "engine/run_report.h"
#include "engine/second_run.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

// A run's folder is new, or an earlier run's that the user gave up.
void open_output(const FleetSpec& fleet) {
  namespace fs = std::filesystem;
  const fs::path& folder = fleet.output_dir;
  const fs::path results = folder / "results.csv";
  if (!fleet.resume && fs::exists(folder) && !(fs::is_directory(folder) && fs::is_empty(folder))) {
    require(fleet.overwrite, "{}: exists already; --resume goes on with it, --overwrite replaces it",
            folder.string());
    require(fs::is_regular_file(results), "{}: is not a run of shoal (no results.csv): not overwritten",
            folder.string());
    fs::remove_all(folder);
  }
  std::error_code error;
  fs::create_directories(folder, error);
  require(!error, "{}: cannot be made: {}", folder.string(), error.message());
}

std::vector<std::string> names_of(const FleetSpec& fleet, const std::vector<JobResult>& results) {
  std::vector<std::string> names;
  for (const JobResult& result : results)
    names.push_back(fleet.jobs[static_cast<std::size_t>(result.job)].name);
  return names;
}

// results.csv of this run's jobs, and of those that an earlier one left.
void report(const FleetSpec& fleet, const SecondRun& earlier, std::vector<JobResult> results) {
  results.insert(results.end(), earlier.of_gone.begin(), earlier.of_gone.end());
  write_results(fleet.output_dir / "results.csv", fleet, results, earlier.gone);
}

}  // namespace

FleetResult train_fleet(const FleetSpec& fleet, Device& device, Observer& observer,
                        const std::atomic<bool>& stop) {
  Preparer preparer(device, fleet.cache_dir);
  const SecondRun earlier = fleet.resume ? read_earlier_run(fleet, preparer) : SecondRun{};
  PreparedFleet prepared = prepare_fleet(fleet, device, preparer, earlier);
  open_output(fleet);
  FleetLog log(fleet.output_dir / "fleet.jsonl", fleet, observer);
  log.keep(names_of(fleet, earlier.kept));

  log.on_plan(prepared.plan);
  for (const std::string& note : earlier.notes) log.on_note(-1, note);
  for (const PreparedJob& job : prepared.jobs)
    for (const std::string& note : job.notes) log.on_note(job.index, note);
  for (const JobResult& failed : prepared.failed) log.on_job_end(failed);
  for (const JobResult& kept : earlier.kept) observer.on_job_end(kept);  // the log has it from then

  FleetResult result{.jobs = std::move(prepared.failed)};
  result.jobs.insert(result.jobs.end(), earlier.kept.begin(), earlier.kept.end());
  for (const std::vector<const PreparedJob*>& jobs : prepared.groups) {
    GroupRun run(device, jobs, fleet, log, stop);
    for (JobResult& job : run.run()) result.jobs.push_back(std::move(job));
    report(fleet, earlier, result.jobs);
  }
  std::sort(result.jobs.begin(), result.jobs.end(),
            [](const JobResult& a, const JobResult& b) { return a.job < b.job; });
  report(fleet, earlier, result.jobs);
  result.stopped = std::any_of(result.jobs.begin(), result.jobs.end(),
                               [](const JobResult& job) { return job.status == JobStatus::kStopped; });
  log.run_end(result.stopped);
  return result;
}

FleetCheck check_fleet(const FleetSpec& fleet, Device& device) {
  Preparer preparer(device, fleet.cache_dir);
  PreparedFleet prepared = prepare_fleet(fleet, device, preparer, {});
  FleetCheck check{.plan = std::move(prepared.plan), .notes = {}, .failed = std::move(prepared.failed)};
  for (const PreparedJob& job : prepared.jobs)
    for (const std::string& note : job.notes) check.notes.emplace_back(job.index, note);
  return check;
}

}  // namespace shoal::engine
