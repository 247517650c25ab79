// What a run leaves to read: metrics.jsonl of each job, results.csv of all.
//
// metrics.jsonl: one JSON object a line, in the order things happened; NaN and infinities are null.
//   training    {"update", "epoch", "loss", "grad_norm", "learning_rate", "tokens", "seconds"}
//   evaluation  {"update", "epoch", "eval_loss", "eval_accuracy", ...}: every metric measured
//   test_file   {"update", "epoch", "test_loss", ...}: the same, once, where it has labels
//
// results.csv (RFC 4180, header line, CRLF): one row a job, in file order. Columns:
//   name              of the job
//   ...               variables of sweep and each, by key: union over the jobs, sorted, empty where a job has
//                     none; one that is called like another column gets "variable_" in front
//   status            done | failed | stopped | queued (never begun)
//   reason            of a failure, or of an early end
//   best_...          metrics of the best evaluation (metric_for_best_model): union over the jobs; empty
//                     where not measured
//   eval_...          the same of the last evaluation
//   test_...          the same of the test file
//   best_epoch        when the best evaluation was; empty without one
//   updates, tokens   made and trained
//   seconds           from filling the job's slot to its end
//   card_seconds      its part of the device's time: each step's wall time is shared out among the jobs in
//                     it by their tokens, training and evaluation alike
//   share             card_seconds / those of all rows
//   cost              card_seconds / 3600 x price_per_hour; only where the fleet has a price
//   folder            of the exported model
// Jobs that are no longer in the fleet file follow. Then, for every set of at least two done jobs whose
// resolved settings are the same but for name, seed, data_seed, fold and repeat, in order of their first job,
// two rows:
//   status            mean | sd (sample, n - 1)
//   name              "mean of 5: cv-fold*", "sd of 5: cv-fold*": what the names have in common at both ends
//   variables         those that are the same in all
//   numbers           of the jobs' own columns, where all of them have one; share and cost are means too
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
  void test(double epoch, std::int64_t update, const Metrics& metrics);

 private:
  void measured(const char* prefix, double epoch, std::int64_t update, const Metrics& metrics);
  void write(const std::string& line);

  std::filesystem::path path_;
  std::ofstream out_;
};

// Whole or not at all (data/atomic_file.h). Jobs without a result are queued ones. gone: jobs that count on
// after the fleet's.
void write_results(const std::filesystem::path& file, const FleetSpec& fleet,
                   const std::vector<JobResult>& results, const std::vector<JobSpec>& gone = {});

}  // namespace shoal::engine
