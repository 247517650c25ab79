// Runs the jobs of one group through its slots until all have ended.
//
// Every step takes the jobs of one phase, as many as fit into the lane, in turn; jobs that evaluate go
// before jobs that train. A job that ends frees its slot at once for the next of the queue. One job's
// fault ends that job.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/group.h"
#include "engine/job_run.h"
#include "engine/job_spec.h"
#include "engine/observer.h"
#include "engine/run_report.h"

namespace shoal::engine {

class GroupRun {
 public:
  GroupRun(Device& device, std::vector<const PreparedJob*> jobs, const FleetSpec& fleet, Observer& observer,
           const std::atomic<bool>& stop);

  // Results in the order the jobs ended.
  std::vector<JobResult> run();

 private:
  // A resident job, and what the engine keeps for it outside the device.
  struct Resident {
    std::unique_ptr<JobRun> job;
    std::unique_ptr<MetricsLog> log;
    std::vector<float> best_row;   // of the best evaluation, where load_best_model_at_end asks for it
    bool holds_final_row = false;  // the slot's weights are those that will be exported
  };

  void fill_free_slots();
  void step(StepKind kind);
  void take_result(Resident& resident, const LaneResult& result);
  void prepare_test(Resident& resident);
  void leave_files(Resident& resident, const std::filesystem::path& folder);
  void end_job(std::size_t slot);
  std::filesystem::path folder_of(const PreparedJob& job) const;

  const FleetSpec& fleet_;
  Observer& observer_;
  const std::atomic<bool>& stop_;
  Group group_;
  std::deque<const PreparedJob*> queue_;
  std::vector<Resident> slots_;
  std::size_t turn_ = 0;  // the slot that is served first
  std::vector<JobResult> results_;
};

}  // namespace shoal::engine
