// shoal check FLEET: everything of `shoal train` short of training: file, rows, labels, weights, groups,
// memory.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/format.h"
#include "cli/plan_lines.h"
#include "engine/config/fleet_file.h"
#include "engine/fleet.h"
#include "kernels/device.h"

namespace shoal::cli {
namespace {

struct CheckOptions {
  std::string fleet;
  engine::FleetFileOptions file;
  bool jobs = false;
  bool quick = false;
};

std::string job_line(const engine::JobSpec& job) {
  std::string line = job.name;
  for (const auto& [key, value] : job.variables) line += fmt::format("  {}={}", key, value);
  if (!job.refused.empty()) line += "  refused: " + job.refused;
  return line;
}

// Rows, labels and weights; returns how many jobs cannot train.
std::int64_t check_files(const engine::FleetSpec& fleet) {
  const std::unique_ptr<Device> device = make_device(fleet.device, {.threads = fleet.threads});
  const engine::FleetCheck check = engine::check_fleet(fleet, *device);
  for (const std::string& line : plan_lines(check.plan, fleet)) fmt::print("{}\n", line);
  const auto name = [&](std::int64_t job) { return fleet.jobs[static_cast<std::size_t>(job)].name; };
  for (const auto& [job, note] : check.notes) fmt::print("note: {}: {}\n", name(job), note);
  for (const engine::JobResult& job : check.failed)
    fmt::print("{} cannot train: {}\n", name(job.job), job.reason);
  return static_cast<std::int64_t>(check.failed.size());
}

int check(const CheckOptions& options) {
  const engine::FleetSpec fleet = engine::read_fleet_file(options.fleet, options.file);
  if (options.jobs) {
    for (const engine::JobSpec& job : fleet.jobs) fmt::print("{}\n", job_line(job));
  }
  std::int64_t refused = 0;
  for (const engine::JobSpec& job : fleet.jobs) refused += !job.refused.empty();
  if (!options.quick) refused = check_files(fleet);
  fmt::print("{}: {}, {}{}\n", options.fleet, counted(static_cast<std::int64_t>(fleet.jobs.size()), "job"),
             refused ? fmt::format("{} of them cannot train", refused) : "no mistakes",
             options.quick ? "; rows, labels and weights were not read" : "");
  return refused > 0 ? kSomeFailed : kAllDone;
}

}  // namespace

void add_check(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("check", "Check a fleet file and the files it names, without training.");
  const auto options = std::make_shared<CheckOptions>();
  command->add_option("FLEET", options->fleet, "The fleet file (docs/fleet-file.md)")->required();
  command->add_flag("--quick", options->quick, "The fleet file alone; no rows, labels or weights are read");
  command->add_flag("--jobs", options->jobs, "List the jobs that the file expands to");
  command->add_option("--only", options->file.only, "As of `shoal train`")->allow_extra_args(false);
  command->add_option("--set", options->file.set, "As of `shoal train`")->allow_extra_args(false);
  command->callback([options, &run] { run = [options] { return check(*options); }; });
}

}  // namespace shoal::cli
