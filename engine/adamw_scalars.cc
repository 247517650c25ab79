#include "engine/adamw_scalars.h"

#include <cmath>

#include "kernels/base/error.h"

namespace shoal::engine {

AdamWScalars adamw_scalars(const JobSpec& job, double learning_rate, std::int64_t t) {
  const double beta1 = job.adam_beta1, beta2 = job.adam_beta2;
  SHOAL_CHECK(t >= 1);
  require(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1,
          "{}: error: job {}: adam_beta1 is {} and adam_beta2 {}; allowed: [0, 1)", job.where, job.name,
          beta1, beta2);
  const auto steps = static_cast<double>(t);
  return {.beta1 = static_cast<float>(beta1),
          .one_minus_beta1 = static_cast<float>(1 - beta1),
          .beta2 = static_cast<float>(beta2),
          .one_minus_beta2 = static_cast<float>(1 - beta2),
          .eps = static_cast<float>(job.adam_epsilon),
          .decay = static_cast<float>(1 - learning_rate * job.weight_decay),
          .step_size = static_cast<float>(learning_rate / (1 - std::pow(beta1, steps))),
          .bias2_sqrt = static_cast<float>(std::sqrt(1 - std::pow(beta2, steps)))};
}

}  // namespace shoal::engine
