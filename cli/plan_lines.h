// The head of a run: what will be trained where, and what the data look like.
#pragma once

#include <string>
#include <vector>

#include "engine/job_spec.h"
#include "engine/observer.h"

namespace shoal::cli {

// "4 jobs, 4 slots, 1 group: BERT 2 layers x 128, ...; 41 MB" (a line a group where there are several),
// "checked 4 data sets: ...".
std::vector<std::string> plan_lines(const engine::FleetPlan& plan, const engine::FleetSpec& fleet);

}  // namespace shoal::cli
