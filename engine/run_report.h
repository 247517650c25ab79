// What a run leaves to read: metrics.jsonl of each job, results.csv of all.
//
// metrics.jsonl: one JSON object a line, in the order things happened; NaN and infinities are null.
//   training    {"update", "epoch", "loss", "grad_norm", "learning_rate", "tokens", "seconds"}
//   evaluation  {"update", "epoch", "eval_loss", "eval_accuracy", ...}: every metric measured
//
// results.csv (RFC 4180, header line, CRLF): one row a job, in file order. Columns:
//   name              of the job
//   ...               variables of sweep and each, by key: union over the jobs, sorted, empty where a job has
//                     none; one that is called like another column gets "variable_" in front
//   status            done | failed | stopped | queued (never begun)
//   reason            of a failure
//   best_...          metrics of the best evaluation (metric_for_best_model): union over the jobs; empty
//                     where not measured
//   eval_...          the same of the last evaluation
//   best_epoch        when the best evaluation was; empty without one
//   updates, tokens   made and trained
//   seconds           from filling the job's slot to its end
//   folder            of the exported model
// Numbers are written so that they read back to the same value; a metric may be nan or inf.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/job_spec.h"
#include "engine/observer.h"

namespace shoal::engine {

// "done", "failed", ...
std::string_view status_name(JobStatus status);

// Appends to a job's metrics.jsonl; each line is flushed, so a killed run keeps what was written. Throws
// Error when the file cannot be opened or written.
class MetricsLog {
 public:
  explicit MetricsLog(const std::filesystem::path& file);

  void progress(const JobProgress& progress);
  void evaluation(double epoch, std::int64_t update, const Metrics& metrics);

 private:
  void write(const std::string& line);

  std::filesystem::path path_;
  std::ofstream out_;
};

// Whole or not at all (models/atomic_file.h). Jobs without a result are queued ones.
void write_results(const std::filesystem::path& file, const FleetSpec& fleet,
                   const std::vector<JobResult>& results);

}  // namespace shoal::engine
