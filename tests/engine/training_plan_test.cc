// Counting updates against transformers 5.24: Trainer.set_initial_training_values and the batches its epoch
// loop takes, run on data sets of row numbers.
#include "engine/training_plan.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

bool operator==(const Window& a, const Window& b) {
  return a.epoch == b.epoch && a.first_row == b.first_row && a.rows == b.rows;
}

JobSpec job_of(std::int64_t batch, std::int64_t accumulation, bool drop_last, double epochs,
               std::int64_t max_steps) {
  JobSpec job;
  job.per_device_train_batch_size = batch;
  job.gradient_accumulation_steps = accumulation;
  job.dataloader_drop_last = drop_last;
  job.num_train_epochs = epochs;
  job.max_steps = max_steps;
  job.validation_file = "dev.tsv";
  return job;
}

struct Case {
  std::int64_t rows, batch, accumulation;
  bool drop_last;
  double num_train_epochs;
  std::int64_t max_steps;
  std::int64_t updates_per_epoch, updates, epochs;  // Trainer's
  std::vector<Window> last_windows;                 // Trainer's, of the last updates
  double last_epoch;                                // Trainer's state.epoch at the end
};

const Case kCases[] = {
    {10, 2, 1, false, 1.0, -1, 5, 5, 1, {{0, 0, 2}, {0, 2, 2}, {0, 4, 2}, {0, 6, 2}, {0, 8, 2}}, 1.0},
    {10, 4, 1, false, 3.0, -1, 3, 9, 3, {{1, 8, 2}, {2, 0, 4}, {2, 4, 4}, {2, 8, 2}}, 3.0},
    {10, 4, 1, true, 3.0, -1, 2, 6, 3, {{1, 4, 4}, {2, 0, 4}, {2, 4, 4}}, 3.0},
    {10, 3, 2, false, 2.0, -1, 2, 4, 2, {{0, 0, 6}, {0, 6, 4}, {1, 0, 6}, {1, 6, 4}}, 2.0},
    {11, 2, 4, false, 1.5, -1, 2, 3, 2, {{0, 0, 8}, {0, 8, 3}, {1, 0, 8}}, 1.6666666666666665},
    {11, 2, 4, true, 1.5, -1, 2, 3, 2, {{0, 0, 8}, {0, 8, 2}, {1, 0, 8}}, 1.8},
    {10, 16, 1, false, 2.0, -1, 1, 2, 2, {{0, 0, 10}, {1, 0, 10}}, 2.0},
    {7, 1, 3, false, 0.1, -1, 3, 1, 1, {{0, 0, 3}}, 0.42857142857142855},
    {100, 8, 2, false, 3.0, 5, 7, 5, 1, {{0, 48, 16}, {0, 64, 16}}, 0.7692307692307693},
    {100, 8, 2, false, 3.0, 20, 7, 20, 3, {{2, 48, 16}, {2, 64, 16}, {2, 80, 16}}, 2.9230769230769234},
    {30, 1, 1, false, 0.1, -1, 30, 3, 1, {{0, 0, 1}, {0, 1, 1}, {0, 2, 1}}, 0.1},
    {67349, 32, 1, false, 3.0, -1, 2105, 6315, 3, {{2, 67264, 32}, {2, 67296, 32}, {2, 67328, 21}}, 3.0},
    {8551,
     8,
     4,
     false,
     2.5,
     -1,
     268,
     670,
     3,
     {{2, 4192, 32}, {2, 4224, 32}, {2, 4256, 32}},
     2.501403180542563},
    {1, 8, 2, false, 1.0, -1, 1, 1, 1, {{0, 0, 1}}, 1.0},
    {10, 2, 8, false, 1.0, 7, 1, 7, 7, {{5, 0, 10}, {6, 0, 10}}, 7.0},
};

TEST(TrainingPlan, CountsAsTrainer) {
  for (std::size_t i = 0; i < std::size(kCases); ++i) {
    const Case& c = kCases[i];
    SCOPED_TRACE(i);
    const TrainingPlan plan(job_of(c.batch, c.accumulation, c.drop_last, c.num_train_epochs, c.max_steps),
                            c.rows);
    EXPECT_EQ(plan.updates_per_epoch(), c.updates_per_epoch);
    ASSERT_EQ(plan.updates(), c.updates);
    EXPECT_EQ(plan.epochs(), c.epochs);
    const auto known = static_cast<std::int64_t>(c.last_windows.size());
    for (std::int64_t w = 0; w < known; ++w) {
      EXPECT_TRUE(plan.window(c.updates - known + w) == c.last_windows[static_cast<std::size_t>(w)]) << w;
    }
    EXPECT_NEAR(plan.epoch_after(c.updates), c.last_epoch, 1e-12);  // one division apart
  }
}

// Each full epoch sees its rows once, in order; drop_last alone leaves a tail shorter than a batch.
TEST(TrainingPlan, WindowsTileTheEpoch) {
  for (const Case& c : kCases) {
    const TrainingPlan plan(job_of(c.batch, c.accumulation, c.drop_last, c.num_train_epochs, c.max_steps),
                            c.rows);
    const std::int64_t seen = c.drop_last ? c.rows / c.batch * c.batch : c.rows;
    std::int64_t next = 0;
    for (std::int64_t u = 0; u < plan.updates(); ++u) {
      const Window window = plan.window(u);
      ASSERT_EQ(window.epoch, u / plan.updates_per_epoch());
      ASSERT_EQ(window.first_row, next);
      ASSERT_GE(window.rows, 1);
      ASSERT_LE(window.rows, c.batch * c.accumulation);
      next += window.rows;
      if ((u + 1) % plan.updates_per_epoch() == 0) {
        ASSERT_EQ(next, seen);
        next = 0;
      }
    }
    EXPECT_LE(next, seen);
  }
}

TEST(TrainingPlan, EpochGrowsFromZero) {
  const TrainingPlan plan(job_of(2, 4, false, 1.5, -1), 11);  // 6 batches an epoch, windows of 4 and 2
  EXPECT_EQ(plan.epoch_after(0), 0);
  EXPECT_DOUBLE_EQ(plan.epoch_after(1), 4.0 / 6);
  EXPECT_EQ(plan.epoch_after(2), 1);
}

TEST(TrainingPlan, RefusesNoUpdates) {
  const auto none = [](const JobSpec& job, std::int64_t rows) {
    EXPECT_THROW(TrainingPlan(job, rows), Error);
  };
  none(job_of(8, 1, false, 3, -1), 0);
  none(job_of(8, 1, true, 3, -1), 7);
  none(job_of(8, 1, true, 3, 5), 7);
  none(job_of(8, 1, false, 0, -1), 7);
  none(job_of(8, 1, false, -1, -1), 7);
  none(job_of(8, 1, false, std::numeric_limits<double>::quiet_NaN(), -1), 7);
  none(job_of(8, 1, false, 1e300, -1), 7);
  none(job_of(8, 1, false, 3, std::int64_t{1} << 31), 7);
  none(job_of(0, 1, false, 3, -1), 7);
  none(job_of(8, 0, false, 3, -1), 7);
}

TEST(TrainingPlan, SaysWhatIsWrong) {
  JobSpec job = job_of(8, 1, true, 3, -1);
  job.where = "demo.toml:12:1";
  job.name = "mood";
  try {
    TrainingPlan(job, 7);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "demo.toml:12:1: error: job mood: dataloader_drop_last drops the only batch: 7 training rows, "
        "per_device_train_batch_size is 8");
  }
}

std::vector<std::int64_t> evaluations(const JobSpec& job, std::int64_t rows) {
  const TrainingPlan plan(job, rows);
  std::vector<std::int64_t> done;
  for (std::int64_t u = 1; u <= plan.updates(); ++u) {
    if (plan.evaluates_after(u)) done.push_back(u);
  }
  return done;
}

using Updates = std::vector<std::int64_t>;

TEST(EvalStrategy, ByEpochWhereThereIsAValidationFile) {
  JobSpec job = job_of(4, 1, false, 2.5, -1);  // 3 updates an epoch, 8 in all
  EXPECT_EQ(evaluations(job, 10), (Updates{3, 6, 8}));
  job.validation_file.clear();
  EXPECT_EQ(evaluations(job, 10), Updates{});
}

TEST(EvalStrategy, BySteps) {
  JobSpec job = job_of(4, 1, false, 2.5, -1);
  job.eval_strategy = Strategy::kSteps;
  job.eval_steps = 3;
  EXPECT_EQ(evaluations(job, 10), (Updates{3, 6, 8})) << "the end comes on top";
  job.eval_steps = 4;
  EXPECT_EQ(evaluations(job, 10), (Updates{4, 8})) << "but not twice";
  job.eval_steps = 100;
  EXPECT_EQ(evaluations(job, 10), Updates{8});
  job.eval_steps = 0;
  EXPECT_THROW(TrainingPlan(job, 10), Error);
}

TEST(EvalStrategy, NoIsNo) {
  JobSpec job = job_of(4, 1, false, 2.5, -1);
  job.eval_strategy = Strategy::kNo;
  EXPECT_EQ(evaluations(job, 10), Updates{});
}

TEST(EvalStrategy, RefusesToEvaluateOnNothing) {
  JobSpec job;
  for (Strategy strategy : {Strategy::kEpoch, Strategy::kSteps}) {
    job.eval_strategy = strategy;
    EXPECT_THROW(resolved_eval_strategy(job), Error);
  }
  job.eval_strategy = Strategy::kNo;
  EXPECT_EQ(resolved_eval_strategy(job), Strategy::kNo);
}

TEST(TrainingPlan, LogsEveryLoggingSteps) {
  JobSpec job = job_of(4, 1, false, 2.5, -1);
  job.logging_steps = 3;
  const TrainingPlan plan(job, 10);
  Updates logged;
  for (std::int64_t u = 1; u <= plan.updates(); ++u) {
    if (plan.logs_after(u)) logged.push_back(u);
  }
  EXPECT_EQ(logged, (Updates{3, 6}));
  job.logging_steps = 0;
  EXPECT_THROW(TrainingPlan(job, 10), Error);
}

}  // namespace
}  // namespace shoal::engine
