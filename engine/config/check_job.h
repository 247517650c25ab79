// Rules that span several keys of one job, or several jobs.
#pragma once

#include <span>
#include <string>

#include "engine/config/expand.h"
#include "engine/config/problems.h"
#include "engine/job_spec.h"

namespace shoal::engine::config {

// Keys that must be given, and keys that contradict each other.
void check_job(const RawJob& raw, const JobSpec& job, Problems& problems);

// Two jobs with one folder, or one inside the other's. names[i] belongs to jobs[i]; "" is passed over.
void check_names(std::span<const RawJob> jobs, std::span<const std::string> names, Problems& problems);

}  // namespace shoal::engine::config
