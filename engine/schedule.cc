#include "engine/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/base/error.h"

namespace shoal::engine {

std::int64_t warmup_updates(double warmup_steps, std::int64_t updates) {
  require(warmup_steps >= 0 && warmup_steps < 0x1p53,
          "warmup_steps is {}; allowed: updates, or a share in [0, 1)", warmup_steps);
  return static_cast<std::int64_t>(
      warmup_steps >= 1 ? warmup_steps : std::ceil(static_cast<double>(updates) * warmup_steps));
}

double learning_rate_factor(Scheduler scheduler, std::int64_t update, std::int64_t warmup,
                            std::int64_t updates) {
  if (scheduler == Scheduler::kConstant) return 1;
  if (update < warmup) return static_cast<double>(update) / static_cast<double>(warmup);
  if (scheduler == Scheduler::kConstantWithWarmup) return 1;
  // The guard is for warm-ups as long as the training: nothing is left to fall over.
  const auto falling = static_cast<double>(std::max<std::int64_t>(1, updates - warmup));
  if (scheduler == Scheduler::kLinear) return std::max(0.0, static_cast<double>(updates - update) / falling);
  SHOAL_CHECK(scheduler == Scheduler::kCosine);
  const double progress = static_cast<double>(update - warmup) / falling;
  return std::max(0.0, 0.5 * (1 + std::cos(std::numbers::pi * progress)));
}

double learning_rate(const JobSpec& job, std::int64_t update, std::int64_t updates) {
  return job.learning_rate * learning_rate_factor(job.lr_scheduler_type, update,
                                                  warmup_updates(job.warmup_steps, updates), updates);
}

}  // namespace shoal::engine
