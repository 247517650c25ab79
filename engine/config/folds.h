// The key `folds`: 5, or { n, group, repeats, seed, only }. A job with it becomes one job a fold, or that
// fold alone which `only` names; from then on its value is a table with `only`, which is also how job.toml
// keeps it, so that a run's job.toml trains that very fold again.
#pragma once

#include <vector>

#include "engine/config/expand.h"
#include "engine/config/problems.h"
#include "engine/job_spec.h"

namespace shoal::engine::config {

// Replaces each job that has folds by its folds, in place and in order.
void split_folds(std::vector<RawJob>& jobs, Problems& problems);

Binding<JobSpec> folds();

}  // namespace shoal::engine::config
