#include "engine/prepare_fleet.h"

#include <algorithm>
#include <map>

#include "engine/group.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

constexpr std::size_t kShownErrors = 20;

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

PreparedFleet prepare_jobs(const FleetSpec& fleet, const SecondRun& earlier, Preparer& preparer) {
  PreparedFleet prepared;
  std::vector<std::string> errors;
  std::map<std::filesystem::path, bool> checked;
  for (std::size_t i = 0; i < fleet.jobs.size(); ++i) {
    if (earlier.keeps(static_cast<std::int64_t>(i))) continue;
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
  require(!prepared.jobs.empty() || !earlier.kept.empty(), "{}: no job can be trained\n{}",
          fleet.file.string(), joined(errors));
  return prepared;
}

FleetPlan plan_of(const FleetSpec& fleet, const Device& device, const Preparer& preparer) {
  FleetPlan plan{.device = device.description(), .jobs = static_cast<std::int64_t>(fleet.jobs.size())};
  for (const auto& dataset : preparer.datasets().all()) {
    ++plan.data_sets;
    plan.rows += dataset->stats.rows;
    plan.tokens += dataset->stats.tokens;
    plan.truncated += dataset->stats.truncated;
    plan.unknown += dataset->stats.unknown;
    plan.pieces += dataset->stats.pieces;
  }
  return plan;
}

void add_groups(const FleetSpec& fleet, const Device& device,
                const std::vector<std::vector<const PreparedJob*>>& groups, FleetPlan& plan) {
  for (const std::vector<const PreparedJob*>& jobs : groups) {
    const std::int64_t slots = resolve_slots(device, jobs, fleet.slots.value_or(0));
    plan.groups.push_back({.model = describe(jobs),
                           .jobs = static_cast<std::int64_t>(jobs.size()),
                           .slots = slots,
                           .bytes = static_cast<std::int64_t>(rows_bytes(jobs, slots))});
    plan.slots = std::max(plan.slots, slots);
  }
}

}  // namespace

PreparedFleet prepare_fleet(const FleetSpec& fleet, const Device& device, Preparer& preparer,
                            const SecondRun& earlier) {
  PreparedFleet prepared = prepare_jobs(fleet, earlier, preparer);
  prepared.groups = group_jobs(prepared.jobs);
  prepared.plan = plan_of(fleet, device, preparer);
  add_groups(fleet, device, prepared.groups, prepared.plan);
  return prepared;
}

}  // namespace shoal::engine
