// shoal train FLEET: trains every job of a fleet file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/progress.h"
#include "cli/result_table.h"
#include "cli/shard.h"
#include "cli/stop.h"
#include "engine/config/fleet_file.h"
#include "engine/fleet.h"

namespace shoal::cli {
namespace {

struct TrainOptions {
  std::string fleet;
  engine::FleetFileOptions file;
  std::string progress = "auto";
  std::string shard;
  bool overwrite = false;
  bool resume = false;
};

int exit_code(const engine::FleetResult& result) {
  if (result.stopped) return kStopped;
  const bool all_done = std::ranges::all_of(
      result.jobs, [](const auto& job) { return job.status == engine::JobStatus::kDone; });
  return all_done ? kAllDone : kSomeFailed;
}

int train(const TrainOptions& options) {
  engine::FleetSpec fleet = engine::read_fleet_file(options.fleet, options.file);
  if (!options.shard.empty()) take_shard(options.shard, fleet);
  fleet.overwrite = options.overwrite;
  fleet.resume = options.resume;
  const std::unique_ptr<Device> device = make_device(fleet.device, {.threads = fleet.threads});
  std::unique_ptr<engine::Observer> view = make_progress(options.progress, fleet);
  const engine::FleetResult result = engine::train_fleet(fleet, *device, *view, stop_on_signals());
  view.reset();  // the live lines are done before the table is printed
  if (options.progress != "json") {
    fmt::print("\n");
    for (const std::string& line : result_table(fleet, result.jobs)) fmt::print("{}\n", line);
  }
  return exit_code(result);
}

}  // namespace

void add_train(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("train", "Train the jobs of a fleet file.");
  const auto options = std::make_shared<TrainOptions>();
  command->add_option("FLEET", options->fleet, "The fleet file (docs/fleet-file.md)")->required();
  command->add_option("--only", options->file.only, "Train the jobs with a name like this, such as 'lr*'")
      ->allow_extra_args(false);
  command
      ->add_option("--set", options->file.set,
                   "Overrule the file: defaults.KEY=VALUE (every job), job.NAME.KEY=VALUE, fleet.KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag(
      "--overwrite", options->overwrite,
      "Replace an earlier run in the same output_dir; with --resume, only the jobs that changed");
  command->add_flag("--resume", options->resume,
                    "Leave the jobs that an earlier run finished, train those that are new or unfinished");
  command->add_option(
      "--shard", options->shard,
      "K/N: every N-th job from the K-th (0 <= K < N), into output_dir/shard-K-of-N; /N takes K from "
      "SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX");
  command->add_option("--progress", options->progress, "auto: live on a terminal, else plain")
      ->check(CLI::IsMember(progress_modes()))
      ->capture_default_str();
  command->callback([options, &run] { run = [options] { return train(*options); }; });
}

}  // namespace shoal::cli
