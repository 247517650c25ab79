// Schedules against transformers 5.24: get_scheduler(name, ..., num_warmup_steps, num_training_steps).
#include "engine/schedule.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

struct Case {
  Scheduler scheduler;
  std::int64_t warmup;
  std::vector<double> factors;  // one an update
};

const Case kCases[] = {
    // Case 47.
    {Scheduler::kLinear, 0, {1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1}},
    {Scheduler::kLinear,
     1,
     {0.0, 1.0, 0.8888888888888888, 0.7777777777777778, 0.6666666666666666, 0.5555555555555556,
      0.4444444444444444, 0.3333333333333333, 0.2222222222222222, 0.1111111111111111}},
    {Scheduler::kLinear, 3, {0.0, 0.3333333333333333, 0.6666666666666666, 1.0, 0.75, 0.5, 0.25}},
    {Scheduler::kLinear, 4, {0.0, 0.25, 0.5, 0.75}},
    {Scheduler::kLinear, 6, {0.0, 0.16666666666666666, 0.3333333333333333, 0.5}},
    {Scheduler::kCosine,
     0,
     {1.0, 0.9755282581475768, 0.9045084971874737, 0.7938926261462366, 0.6545084971874737, 0.5,
      0.34549150281252633, 0.2061073738537635, 0.09549150281252633, 0.024471741852423234}},
    {Scheduler::kCosine,
     1,
     {0.0, 1.0, 0.9698463103929542, 0.883022221559489, 0.75, 0.5868240888334653, 0.41317591116653485,
      0.2500000000000001, 0.11697777844051105, 0.03015368960704584}},
    {Scheduler::kCosine,
     3,
     {0.0, 0.3333333333333333, 0.6666666666666666, 1.0, 0.8535533905932737, 0.5, 0.14644660940672627}},
    {Scheduler::kCosine, 4, {0.0, 0.25, 0.5, 0.75}},
    {Scheduler::kConstantWithWarmup, 0, {1.0, 1.0, 1.0}},
    {Scheduler::kConstantWithWarmup, 3, {0.0, 0.3333333333333333, 0.6666666666666666, 1.0, 1.0, 1.0, 1.0}},
    {Scheduler::kConstantWithWarmup, 6, {0.0, 0.16666666666666666, 0.3333333333333333, 0.5}},
    {Scheduler::kConstant, 0, {1.0, 1.0, 1.0}},
    {Scheduler::kConstant, 3, {1.0, 1.0, 1.0, 1.0}},
};

TEST(Schedule, AgreesWithTransformersInEveryUpdate) {
  for (const Case& c : kCases) {
    const auto updates = static_cast<std::int64_t>(c.factors.size());
    for (std::int64_t u = 0; u < updates; ++u) {
      // Both are doubles of the same formula; cos may differ in its last bits.
      EXPECT_NEAR(learning_rate_factor(c.scheduler, u, c.warmup, updates),
                  c.factors[static_cast<std::size_t>(u)], 1e-12)
          << "scheduler " << int(c.scheduler) << ", warm-up " << c.warmup << " of " << updates << ", update "
          << u;
    }
  }
}

// TrainingArguments.get_warmup_steps: case 47's ratio .06 of 10 is 1, not 0.
TEST(Schedule, WarmupIsUpdatesOrAShareRoundedUp) {
  EXPECT_EQ(warmup_updates(0, 10), 0);
  EXPECT_EQ(warmup_updates(0.06, 10), 1);
  EXPECT_EQ(warmup_updates(0.5, 7), 4);
  EXPECT_EQ(warmup_updates(0.07, 100), 8) << "0.07 * 100 is above 7 in double, there as here";
  EXPECT_EQ(warmup_updates(0.999, 3), 3);
  EXPECT_EQ(warmup_updates(1e-9, 3), 1);
  EXPECT_EQ(warmup_updates(1, 10), 1);
  EXPECT_EQ(warmup_updates(3, 10), 3);
  EXPECT_EQ(warmup_updates(2.9, 10), 2);
  EXPECT_EQ(warmup_updates(500, 10), 500);
}

TEST(Schedule, RefusesAWarmupThatIsNoNumberOfUpdates) {
  for (double bad :
       {-1.0, -0.1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(warmup_updates(bad, 10), Error) << bad;
  }
}

TEST(Schedule, RateIsTheJobsOwn) {
  JobSpec job;
  job.learning_rate = 2e-5;
  job.warmup_steps = 0.06;
  EXPECT_EQ(learning_rate(job, 0, 10), 0);
  EXPECT_EQ(learning_rate(job, 1, 10), 2e-5);
  EXPECT_NEAR(learning_rate(job, 9, 10), 2e-5 / 9, 1e-20);  // a few ulp of 2e-6
  job.lr_scheduler_type = Scheduler::kConstant;
  EXPECT_EQ(learning_rate(job, 0, 10), 2e-5);
}

}  // namespace
}  // namespace shoal::engine
