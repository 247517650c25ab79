// Schedules against transformers: get_scheduler, update by update (tests/golden/make_schedule_golden.py).
#include "engine/schedule.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/config/keys.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

// As the fleet file names it.
void set_schedule(JobSpec& job, const std::string& name) {
  const config::Key<JobSpec>& key = *config::find_job_key("lr_scheduler_type");
  config::set_key(key, job, config::parse_typed_value(name, {}), {});
}

// Case 47 is among them: linear with warm-ups of 0 and 1.
TEST(Schedule, AgreesWithTransformersInEveryUpdate) {
  const nlohmann::json golden = nlohmann::json::parse(std::ifstream(SHOAL_SCHEDULES));
  std::set<std::string> met;
  for (const nlohmann::json& c : golden.at("cases")) {
    JobSpec job;
    met.insert(c.at("type"));
    set_schedule(job, c.at("type"));
    job.learning_rate = golden.at("learning_rate");
    job.warmup_steps = c.at("warmup");
    for (const auto& [name, value] : c.at("kwargs").items()) job.lr_scheduler_kwargs[name] = value;
    const std::vector<double> rates = c.at("rates");
    const auto updates = static_cast<std::int64_t>(rates.size());
    for (std::int64_t u = 0; u < updates; ++u) {
      const double wanted = rates[static_cast<std::size_t>(u)];
      // Both are doubles of the same formula; cos and pow may differ in their last bits, and 1 + cos near its
      // zero keeps fewer of them.
      EXPECT_NEAR(learning_rate(job, u, updates), wanted, 1e-12 * wanted + 1e-21)
          << c.dump() << ", update " << u;
    }
  }
  EXPECT_EQ(met.size(), config::find_job_key("lr_scheduler_type")->binding.choices.size());
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
