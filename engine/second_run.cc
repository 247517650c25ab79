#include "engine/second_run.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "engine/config/job_toml.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

double number(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Metrics metrics_of(const Json& event, const char* key) {
  Metrics metrics;
  if (const auto found = event.find(key); found != event.end() && found->is_object())
    for (const auto& [name, value] : found->items()) metrics.emplace_back(name, number(value));
  return metrics;
}

JobStatus status_of(const std::string& name) {
  return name == "done" ? JobStatus::kDone : name == "failed" ? JobStatus::kFailed : JobStatus::kStopped;
}

// The last "job_end" of each job. A line that a killed run left unfinished is passed over.
std::map<std::string, Json> last_ends(const fs::path& file) {
  std::map<std::string, Json> ends;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    Json event = Json::parse(line, nullptr, false);
    if (!event.is_object() || event.value("event", "") != "job_end") continue;
    const std::string name = event.value("job", "");
    ends[name] = std::move(event);
  }
  return ends;
}

JobResult result_of(const Json& event) {
  return {.status = status_of(event.value("status", "")),
          .reason = event.value("reason", ""),
          .best = metrics_of(event, "best"),
          .best_epoch = event.contains("best_epoch") ? number(event["best_epoch"]) : 0,
          .last = metrics_of(event, "last"),
          .test = metrics_of(event, "test"),
          .updates = event.value("updates", std::int64_t{0}),
          .tokens = event.value("tokens", std::int64_t{0}),
          .seconds = event.value("seconds", 0.0),
          .card_seconds = event.value("card_seconds", 0.0),
          .folder = {}};
}

// Keys of a job.toml with their values as written, and the hashes among its comments.
std::map<std::string, std::string> entries_of(const std::string& toml) {
  std::map<std::string, std::string> entries;
  std::istringstream in(toml);
  for (std::string line; std::getline(in, line);) {
    const bool fact = line.starts_with("# ");
    const std::string_view between = fact ? ": " : " = ";
    const std::size_t at = line.find(between);
    if (at == std::string::npos) continue;
    const std::string key = fact ? line.substr(2, at - 2) : line.substr(0, at);
    if (!fact || key.ends_with(" sha256")) entries[key] = line.substr(at + between.size());
  }
  return entries;
}

// "seed: 1 -> 2", a line a difference.
std::vector<std::string> differences(const std::map<std::string, std::string>& old,
                                     const std::map<std::string, std::string>& now) {
  std::set<std::string> keys;
  for (const auto* side : {&old, &now})
    for (const auto& [key, value] : *side) keys.insert(key);
  const auto value_in = [](const std::map<std::string, std::string>& side, const std::string& key) {
    const auto found = side.find(key);
    return found == side.end() ? std::string("(not given)") : found->second;
  };
  std::vector<std::string> lines;
  for (const std::string& key : keys) {
    const std::string before = value_in(old, key), after = value_in(now, key);
    if (before != after) lines.push_back(fmt::format("{}: {} -> {}", key, before, after));
  }
  return lines;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  require(in.is_open(), "{}: cannot be read", file.string());
  return (std::ostringstream() << in.rdbuf()).str();
}

// Names of the finished jobs below a run's folder.
std::vector<std::string> done_jobs(const fs::path& output) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(output))
    if (entry.path().filename() == "job.toml")
      names.push_back(entry.path().parent_path().lexically_relative(output).generic_string());
  std::ranges::sort(names);
  return names;
}

void find_gone(const FleetSpec& fleet, const std::map<std::string, Json>& ends, SecondRun& run) {
  std::set<std::string> names;
  for (const JobSpec& job : fleet.jobs) names.insert(job.name);
  for (const std::string& name : done_jobs(fleet.output_dir)) {
    if (names.contains(name)) continue;
    run.notes.push_back(
        fmt::format("{}: of no job of this run; left alone", (fleet.output_dir / name).string()));
    const auto end = ends.find(name);
    if (end == ends.end()) continue;
    JobSpec spec;
    spec.name = name;
    if (const auto variables = end->second.find("variables"); variables != end->second.end())
      for (const auto& [key, value] : variables->items())
        if (value.is_string()) spec.variables[key] = value.get<std::string>();
    JobResult result = result_of(end->second);
    result.job = std::ssize(fleet.jobs) + std::ssize(run.gone);
    result.folder = fleet.output_dir / name;
    run.gone.push_back(std::move(spec));
    run.of_gone.push_back(std::move(result));
  }
}

}  // namespace

bool SecondRun::keeps(std::int64_t job) const {
  return std::ranges::any_of(kept, [&](const JobResult& result) { return result.job == job; });
}

SecondRun read_earlier_run(const FleetSpec& fleet, Preparer& preparer) {
  SecondRun run;
  const fs::path& output = fleet.output_dir;
  if (!fs::exists(output) || (fs::is_directory(output) && fs::is_empty(output))) return run;
  require(fs::is_regular_file(output / "fleet.jsonl") || fs::is_regular_file(output / "results.csv"),
          "{}: is not a run of shoal (no fleet.jsonl): not resumed", output.string());
  const std::map<std::string, Json> ends = last_ends(output / "fleet.jsonl");
  std::string changed;
  for (std::size_t j = 0; j < fleet.jobs.size(); ++j) {
    const JobSpec& spec = fleet.jobs[j];
    const fs::path folder = output / fs::path(spec.name);
    if (!spec.refused.empty() || !fs::is_regular_file(folder / "job.toml")) continue;
    const auto lines = differences(entries_of(text_of(folder / "job.toml")),
                                   entries_of(job_toml(preparer.resolved(spec), preparer.facts_of(spec))));
    for (const std::string& line : lines) changed += fmt::format("\njob {}: {}", spec.name, line);
    if (!lines.empty()) continue;
    const auto end = ends.find(spec.name);
    JobResult result = end == ends.end() ? JobResult{} : result_of(end->second);
    if (end == ends.end())
      run.notes.push_back(
          fmt::format("job {}: done, but fleet.jsonl does not know what it measured", spec.name));
    result.job = static_cast<std::int64_t>(j);
    result.status = JobStatus::kDone;
    result.folder = folder;
    run.kept.push_back(std::move(result));
  }
  require(changed.empty() || fleet.overwrite,
          "{}: jobs that are done have changed; --overwrite trains them anew{}", output.string(), changed);
  find_gone(fleet, ends, run);
  return run;
}

}  // namespace shoal::engine
