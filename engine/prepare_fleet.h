// All jobs of a fleet, prepared and planned: everything short of training.
#pragma once

#include <vector>

#include "engine/job_spec.h"
#include "engine/observer.h"
#include "engine/prepare.h"
#include "engine/second_run.h"
#include "kernels/device.h"

namespace shoal::engine {

struct PreparedFleet {
  std::vector<PreparedJob> jobs;                        // those that can be trained
  std::vector<JobResult> failed;                        // the others, under OnError::kSkip
  std::vector<std::vector<const PreparedJob*>> groups;  // of `jobs`, which must stay where they are
  FleetPlan plan;
};

// Error: all errors of all jobs, a line each; under OnError::kSkip only where no job is left.
PreparedFleet prepare_fleet(const FleetSpec& fleet, const Device& device, Preparer& preparer,
                            const SecondRun& earlier);

}  // namespace shoal::engine
