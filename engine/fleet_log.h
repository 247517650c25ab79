// fleet.jsonl: what happens to a run as a whole, for `shoal status` and for whoever watches from outside.
//
// One JSON object a line, appended and flushed as it happens; a run that is resumed appends to the same file,
// so the last "plan" is where the present run begins. NaN and infinities are null. Every line has "event" and
// "time" (seconds since 1970, UTC, with fractions); jobs are named as in the fleet file:
//   plan        {"version", "device", "file", "jobs", "slots", "names": [every job], "kept": [jobs that an
//               earlier run finished], "groups": [{"model", "jobs", "slots", "bytes"}], "data_sets", "rows",
//               "tokens"}
//   note        {"job" (null: of the run), "note"}
//   job_start   {"job", "slot"}
//   progress    {"job", "update", "updates" (in all), "epoch", "loss", "learning_rate", "tokens",
//               "seconds"}: at most one a job every kProgressSeconds
//   evaluation  {"job", "update", "epoch", "eval_loss", "eval_accuracy", ...}
//   job_end     {"job", "status", "reason", "updates", "tokens", "seconds", "card_seconds", "best_epoch",
//               "best": {metrics}, "last": {metrics}, "test": {metrics}, "folder", "variables": {}}: what
//               results.csv says of the job, and where a resumed run has it from
//   run_end     {"stopped"}; a file whose last line is another is of a run that goes on, or was killed
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/job_spec.h"
#include "engine/observer.h"

namespace shoal::engine {

// Passes everything on to `next` and writes it down. A file that can no longer be written is told in one
// note; training goes on.
class FleetLog : public Observer {
 public:
  static constexpr double kProgressSeconds = 5;

  // Error: the file cannot be opened.
  FleetLog(const std::filesystem::path& file, const FleetSpec& fleet, Observer& next);

  // Jobs that are left as an earlier run made them; told before the plan.
  void keep(std::vector<std::string> names) { kept_ = std::move(names); }

  void on_plan(const FleetPlan& plan) override;
  void on_note(std::int64_t job, const std::string& note) override;
  void on_job_start(std::int64_t job, std::int64_t slot) override;
  void on_progress(const JobProgress& progress) override;
  void on_evaluation(std::int64_t job, double epoch, std::int64_t update, const Metrics& metrics) override;
  void on_job_end(const JobResult& result) override;
  void on_tick() override { next_.on_tick(); }
  void run_end(bool stopped);

 private:
  void write(const char* event, const nlohmann::ordered_json& more);
  const std::string& name(std::int64_t job) const;

  std::filesystem::path path_;
  std::ofstream out_;
  const FleetSpec& fleet_;
  Observer& next_;
  std::vector<std::string> kept_;
  std::vector<std::chrono::steady_clock::time_point> told_;  // [jobs], of the last progress line
};

}  // namespace shoal::engine
