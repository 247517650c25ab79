// lr_scheduler_kwargs: the settings of a schedule by transformers' names, each allowed with its schedules
// only, as there.
#pragma once

#include <string>

#include "engine/config/binding.h"
#include "engine/config/expand.h"
#include "engine/config/problems.h"
#include "engine/job_spec.h"

namespace shoal::engine::config {

Binding<JobSpec> scheduler_kwargs();

// "cosine: num_cycles; ...", for the documentation.
std::string scheduler_kwargs_text();

// What the job's lr_scheduler_type does not take, and what it lacks.
void check_scheduler_kwargs(const RawJob& raw, const JobSpec& job, Problems& problems);

}  // namespace shoal::engine::config
