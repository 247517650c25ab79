// From a single job's values to its JobSpec: templates filled in, every key set and checked, then the
// rules that span several keys.
#pragma once

#include <string>

#include "engine/config/binding.h"
#include "engine/config/expand.h"
#include "engine/config/problems.h"
#include "engine/job_spec.h"

namespace shoal::engine::config {

// The job's name with its templates filled in; "" with a problem where there is none or not a good one.
std::string resolve_name(const RawJob& job, Problems& problems);

// `on_error`: under kSkip what is missing on disk goes to JobSpec::refused instead of `problems`.
JobSpec bind_job(const RawJob& job, const std::string& name, OnError on_error, const Context& context,
                 Problems& problems);

}  // namespace shoal::engine::config
