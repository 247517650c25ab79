// shoal status RUN: where the jobs of a run stand, from its fleet.jsonl; while it goes on and afterwards.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/format.h"
#include "data/json_file.h"
#include "kernels/base/error.h"

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;

struct StatusOptions {
  std::filesystem::path run;
  bool json = false;
};

struct JobState {
  std::string status = "queued";
  std::string reason;
  double update = 0, updates = 0, seconds = 0;
  std::vector<std::pair<std::string, double>> metrics;  // of the last evaluation
};

struct RunState {
  std::vector<std::string> names;  // in file order
  std::map<std::string, JobState> jobs;
  bool ended = false;
  double last_event = 0;  // seconds since 1970
};

double number(const nlohmann::json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number() ? found->get<double>() : 0.0;
}

void take_metrics(const nlohmann::json& of, std::string_view prefix, JobState& job) {
  job.metrics.clear();
  for (const auto& [key, value] : of.items())
    if (key.starts_with(prefix) && value.is_number())
      job.metrics.emplace_back(key.substr(prefix.size()), value.get<double>());
}

void take_event(const nlohmann::json& event, RunState& run) {
  const std::string kind = event.at("event");
  run.last_event = number(event, "time");
  run.ended = kind == "run_end";
  if (kind == "plan") {  // of this run, or of its resumption
    std::map<std::string, JobState> before = std::move(run.jobs);
    run.names = event.at("names").get<std::vector<std::string>>();
    run.jobs.clear();
    for (const std::string& name : run.names) run.jobs[name];
    for (const auto& name : event.at("kept")) run.jobs[name] = before[name];
    return;
  }
  if (!event.contains("job") || !event.at("job").is_string()) return;
  JobState& job = run.jobs[event.at("job")];
  if (kind == "job_start") job.status = "training";
  if (kind == "progress") {
    job.update = number(event, "update");
    job.updates = number(event, "updates");
    job.seconds = number(event, "seconds");
  }
  if (kind == "evaluation") take_metrics(event, "eval_", job);
  if (kind == "job_end") {
    job.status = event.at("status");
    job.reason = event.at("reason");
    job.update = number(event, "updates");
    job.seconds = number(event, "seconds");
    take_metrics(event.at("last"), "", job);
  }
}

RunState read_run(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "fleet.jsonl";
  std::ifstream in(file, std::ios::binary);
  require(in.is_open(), "{}: error: not the folder of a run (no fleet.jsonl)", folder.string());
  RunState run;
  std::string line;
  for (std::int64_t number = 1; std::getline(in, line); ++number) {
    if (in.eof()) break;  // a line that is being written
    try {
      take_event(data::parse_json(line, file, number), run);
    } catch (const nlohmann::json::exception&) {
      fail("{}:{}: error: not an event of a run", file.string(), number);
    }
  }
  return run;
}

std::string job_line(const std::string& name, const JobState& job) {
  std::string line = fmt::format("{}  {}", name, job.status);
  if (job.status == "training" && job.updates > 0)
    line += fmt::format("  update {:.0f}/{:.0f}", job.update, job.updates);
  if (job.status == "done") line += fmt::format("  {:.0f} updates", job.update);
  for (const auto& [metric, value] : job.metrics) line += fmt::format("  {} {}", metric, metric_text(value));
  if (job.seconds > 0) line += "  " + clock_text(job.seconds);
  if (!job.reason.empty()) line += "  " + job.reason;
  return line;
}

Json json_of(const RunState& run, double quiet) {
  Json jobs = Json::array();
  for (const std::string& name : run.names) {
    const JobState& job = run.jobs.at(name);
    Json metrics = Json::object();
    for (const auto& [metric, value] : job.metrics) metrics[metric] = value;
    jobs.push_back({{"name", name},
                    {"status", job.status},
                    {"reason", job.reason},
                    {"update", job.update},
                    {"updates", job.updates},
                    {"seconds", job.seconds},
                    {"metrics", metrics}});
  }
  return {{"ended", run.ended}, {"seconds_since_last_event", quiet}, {"jobs", jobs}};
}

int status(const StatusOptions& options) {
  const RunState run = read_run(options.run);
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const double quiet = std::max(0.0, now - run.last_event);
  if (options.json) {
    fmt::print("{}\n", json_of(run, quiet).dump());
    return kAllDone;
  }
  std::map<std::string, std::int64_t> counts;
  for (const std::string& name : run.names) {
    fmt::print("{}\n", job_line(name, run.jobs.at(name)));
    ++counts[run.jobs.at(name).status];
  }
  std::string summary = counted(static_cast<std::int64_t>(run.names.size()), "job");
  for (const auto& [state, count] : counts) summary += fmt::format(", {} {}", count, state);
  fmt::print("{}; {}\n", summary,
             run.ended ? "the run has ended"
                       : fmt::format("the run goes on, or was killed: last word {} ago", clock_text(quiet)));
  return kAllDone;
}

}  // namespace

void add_status(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("status", "Where the jobs of a run stand, now or at its end.");
  const auto options = std::make_shared<StatusOptions>();
  command->add_option("RUN", options->run, "Folder of the run, such as runs/fleet")->required();
  command->add_flag("--json", options->json, "One JSON object");
  command->callback([options, &run] { run = [options] { return status(*options); }; });
}

}  // namespace shoal::cli
