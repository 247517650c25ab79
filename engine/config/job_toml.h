// The job.toml of a run: a job as it was resolved, itself a fleet file of one job.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "engine/job_spec.h"

namespace shoal::engine {

// Every key that has a value, defaults included, so that a later version with other defaults trains the
// same; paths absolute, so that the file may be moved. `facts` become comment lines at the top (version,
// device, hashes): they say how the run was, and change nothing when the file is run again.
std::string job_toml(const JobSpec& job, std::span<const std::pair<std::string, std::string>> facts = {});

}  // namespace shoal::engine
