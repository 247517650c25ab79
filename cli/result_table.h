// The table at the end of a run: a line a job, in file order.
#pragma once

#include <string>
#include <vector>

#include "engine/job_spec.h"
#include "engine/observer.h"

namespace shoal::cli {

// job | metric of the best evaluation | best at | updates | time | folder. A job that did not get to its
// end has its reason in place of the folder.
std::vector<std::string> result_table(const engine::FleetSpec& fleet,
                                      const std::vector<engine::JobResult>& results);

}  // namespace shoal::cli
