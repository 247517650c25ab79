// What the engine tells while it runs: the live view, the plain lines and the log are observers.
// All calls come from one thread; an observer must not throw and should return quickly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace shoal::engine {

// Metric names as Hugging Face's evaluate has them: "accuracy", "f1", "loss" ... in printing order.
using Metrics = std::vector<std::pair<std::string, double>>;

// One group's plan, before training.
struct GroupPlan {
  std::string model;  // "BERT 2 layers x 128, vocabulary 2,048, random weights, fp32"
  std::int64_t jobs = 0;
  std::int64_t slots = 0;
  std::int64_t bytes = 0;
};

struct FleetPlan {
  std::string device;  // Device::description()
  std::int64_t jobs = 0;
  std::int64_t slots = 0;
  std::vector<GroupPlan> groups;
  // Of all data sets together.
  std::int64_t data_sets = 0;
  std::int64_t rows = 0;
  std::int64_t tokens = 0;
  std::int64_t truncated = 0;
  std::int64_t unknown = 0;
  std::int64_t pieces = 0;
};

enum class JobStatus : std::uint8_t { kQueued, kTraining, kEvaluating, kDone, kFailed, kStopped };

// Where a job stands; sent after each update of the job.
struct JobProgress {
  std::int64_t job = 0;  // index in FleetSpec::jobs
  JobStatus status = JobStatus::kTraining;
  std::int64_t update = 0;
  std::int64_t updates = 0;  // in all
  double epoch = 0;
  double loss = 0;  // of the last window
  double grad_norm = 0;
  double learning_rate = 0;
  std::int64_t tokens = 0;  // trained so far
  double seconds = 0;       // since the job's slot was filled
};

struct JobResult {
  std::int64_t job = 0;
  JobStatus status = JobStatus::kDone;
  std::string reason;  // of a failure, or of an end before the plan's ("stopped early at epoch 2")
  Metrics best;        // of the best evaluation; empty without one
  double best_epoch = 0;
  Metrics last;
  Metrics test;  // of test_file, where it has labels
  std::int64_t updates = 0;
  std::int64_t tokens = 0;
  double seconds = 0;
  double card_seconds = 0;  // its part of the steps it was in, by tokens
  std::filesystem::path folder;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_plan(const FleetPlan&) {}
  virtual void on_note(std::int64_t /*job or -1*/, const std::string& /*one line*/) {}
  virtual void on_job_start(std::int64_t /*job*/, std::int64_t /*slot*/) {}
  virtual void on_progress(const JobProgress&) {}
  virtual void on_evaluation(std::int64_t /*job*/, double /*epoch*/, std::int64_t /*update*/,
                             const Metrics&) {}
  virtual void on_job_end(const JobResult&) {}
  virtual void on_tick() {}  // often, also when nothing else happens: redraw, heartbeat
};

}  // namespace shoal::engine
