// shoal check FLEET: reads and expands a fleet file, and says what is wrong with it, without training.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/format.h"
#include "engine/config/fleet_file.h"

namespace shoal::cli {
namespace {

struct CheckOptions {
  std::string fleet;
  engine::FleetFileOptions file;
  bool jobs = false;
};

std::string job_line(const engine::JobSpec& job) {
  std::string line = job.name;
  for (const auto& [key, value] : job.variables) line += fmt::format("  {}={}", key, value);
  if (!job.refused.empty()) line += "  refused: " + job.refused;
  return line;
}

int check(const CheckOptions& options) {
  const engine::FleetSpec fleet = engine::read_fleet_file(options.fleet, options.file);
  if (options.jobs) {
    for (const engine::JobSpec& job : fleet.jobs) fmt::print("{}\n", job_line(job));
  }
  std::int64_t refused = 0;
  for (const engine::JobSpec& job : fleet.jobs) refused += !job.refused.empty();
  fmt::print("{}: {}, {}; their rows, labels and weights are checked when training starts\n", options.fleet,
             counted(static_cast<std::int64_t>(fleet.jobs.size()), "job"),
             refused ? fmt::format("{} of them cannot train", refused) : "no mistakes in the file");
  return kAllDone;
}

}  // namespace

void add_check(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("check", "Check a fleet file and the files it names, without training.");
  const auto options = std::make_shared<CheckOptions>();
  command->add_option("FLEET", options->fleet, "The fleet file (docs/fleet-file.md)")->required();
  command->add_flag("--jobs", options->jobs, "List the jobs that the file expands to");
  command->add_option("--only", options->file.only, "As of `shoal train`")->allow_extra_args(false);
  command->add_option("--set", options->file.set, "As of `shoal train`")->allow_extra_args(false);
  command->callback([options, &run] { run = [options] { return check(*options); }; });
}

}  // namespace shoal::cli
