// The scalars of one AdamW update (kernels/optimizer.h), as torch.optim.AdamW makes them: in double, bias
// correction on, each rounded to float once. One minus beta is rounded from the double difference.
#pragma once

#include <cstdint>

#include "engine/job_spec.h"
#include "kernels/optimizer.h"

namespace shoal::engine {

// learning_rate: of this update (engine/schedule.h); t: updates of this job with this one, from 1, so a slot
// that is refilled starts at 1 again. The rest comes from the job.
AdamWScalars adamw_scalars(const JobSpec& job, double learning_rate, std::int64_t t);

}  // namespace shoal::engine
