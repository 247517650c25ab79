// What is known of a running fleet: the events of the engine, summed up for whoever shows them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/job_spec.h"
#include "engine/observer.h"

namespace shoal::cli {

// Seconds since some start; the tests bring their own.
using Clock = std::function<double()>;
Clock steady_clock();

struct JobState {
  std::string name;
  engine::JobStatus status = engine::JobStatus::kQueued;
  std::int64_t slot = -1;
  engine::JobProgress progress;
  engine::Metrics evaluation;  // the last one
  double done_share() const;   // of its updates
};

class FleetState : public engine::Observer {
 public:
  FleetState(const engine::FleetSpec& fleet, Clock clock);

  void on_job_start(std::int64_t job, std::int64_t slot) override;
  void on_progress(const engine::JobProgress& progress) override;
  void on_evaluation(std::int64_t job, double epoch, std::int64_t update,
                     const engine::Metrics& metrics) override;
  void on_job_end(const engine::JobResult& result) override;

  const std::vector<JobState>& jobs() const { return jobs_; }
  const JobState& job(std::int64_t index) const { return jobs_.at(static_cast<std::size_t>(index)); }
  const engine::JobSpec& spec(std::int64_t index) const {
    return fleet_.jobs.at(static_cast<std::size_t>(index));
  }
  // Jobs in a slot, by slot.
  std::vector<std::int64_t> running() const;
  double now() const { return clock_() - start_; }

  // "done 1, training 3, queued 2, failed 0; 12,345 tokens/s; 1:02 left"
  std::string summary() const;
  // Columns that the longest name takes, within reason.
  int name_width() const { return name_width_; }

 private:
  double left() const;  // seconds, by the share of the fleet that is done

  const engine::FleetSpec& fleet_;
  Clock clock_;
  double start_ = 0;
  std::vector<JobState> jobs_;
  int name_width_ = 0;
};

// The metric that stands for a job in one column: the one that chooses its best model, else the first
// that is not the loss. Empty where there is none.
std::string shown_metric(const engine::JobSpec& job, const engine::Metrics& metrics);
// Its value as text; empty where there is none.
std::string metric_value(const engine::Metrics& metrics, const std::string& name);

// Seconds that a job still needs, by the pace of its updates.
double job_left(const engine::JobProgress& progress);

}  // namespace shoal::cli
