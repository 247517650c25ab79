// The scalars, put through the update rule of kernels/optimizer.h, against torch.optim.AdamW.
#include "engine/adamw_scalars.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

// One parameter through kernels/optimizer.h's rule, in double so that only the scalars are rounded.
struct Parameter {
  double p = 0, m = 0, v = 0;

  void update(const AdamWScalars& s, double g) {
    p *= s.decay;
    m = s.beta1 * m + s.one_minus_beta1 * g;
    v = s.beta2 * v + s.one_minus_beta2 * g * g;
    p -= s.step_size * m / (std::sqrt(v) / s.bias2_sqrt + s.eps);
  }
};

struct Case {
  double learning_rate, beta1, beta2, epsilon, weight_decay;
  std::vector<double> p;  // torch 2.15 in float64: from 0.5, gradients 0.1, -0.3, 0.02
};

const Case kCases[] = {
    {1e-3, 0.9, 0.999, 1e-8, 0, {0.4990000001, 0.49949418991120065, 0.4998350938323601}},
    {5e-5, 0.9, 0.999, 1e-8, 0.01, {0.499949750005, 0.4999742095206851, 0.49999100472963837}},
    {2e-3, 0.8, 0.95, 1e-6, 0.1, {0.4979000199998, 0.49888258140009417, 0.49948375144687013}},
};

TEST(AdamWScalars, UpdatesAsTorch) {
  const double gradients[] = {0.1, -0.3, 0.02};
  for (const Case& c : kCases) {
    JobSpec job;
    job.adam_beta1 = c.beta1;
    job.adam_beta2 = c.beta2;
    job.adam_epsilon = c.epsilon;
    job.weight_decay = c.weight_decay;
    Parameter parameter{.p = 0.5};
    for (std::size_t u = 0; u < c.p.size(); ++u) {
      parameter.update(adamw_scalars(job, c.learning_rate, static_cast<std::int64_t>(u) + 1), gradients[u]);
      // Three roundings of decay (2^-25 x 0.5 each), the rest of the scalars only scale a step of 2e-3.
      EXPECT_NEAR(parameter.p, c.p[u], 5e-8) << "learning rate " << c.learning_rate << ", update " << u;
    }
  }
}

// Case 49: without bias correction this step would be -3.1623e-3.
TEST(AdamWScalars, BiasIsCorrected) {
  Parameter parameter;
  parameter.update(adamw_scalars({}, 1e-3, 1), 0.1);
  EXPECT_NEAR(parameter.p, -1.0000e-3, 1e-9);  // scalars in float: 1e-7 relative, a few times
}

TEST(AdamWScalars, BiasFadesAndDecayScalesWithTheRate) {
  JobSpec job;
  job.weight_decay = 0.01;
  const AdamWScalars late = adamw_scalars(job, 1e-3, 1'000'000);
  EXPECT_EQ(late.step_size, 1e-3f);
  EXPECT_EQ(late.bias2_sqrt, 1.0f);
  EXPECT_EQ(late.decay, float(1 - 1e-5));
  EXPECT_EQ(late.one_minus_beta2, float(1 - 0.999)) << "rounded from double, not 1.0f - 0.999f";
  EXPECT_EQ(adamw_scalars(job, 0, 1).decay, 1.0f);
  EXPECT_EQ(adamw_scalars(job, 0, 1).step_size, 0.0f);
}

TEST(AdamWScalars, RefusesWhatDividesByZero) {
  JobSpec job;
  EXPECT_THROW(adamw_scalars(job, 1e-3, 0), Error);
  job.adam_beta2 = 1;
  EXPECT_THROW(adamw_scalars(job, 1e-3, 1), Error);
  job.adam_beta2 = 0.999;
  job.adam_beta1 = 1;
  EXPECT_THROW(adamw_scalars(job, 1e-3, 1), Error);
}

}  // namespace
}  // namespace shoal::engine
