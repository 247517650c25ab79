// Regression: its metrics (case 64), and jobs that learn a number.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "engine/metrics.h"
#include "engine/regression_metrics.h"
#include "kernels/base/error.h"
#include "tests/engine/toy_fleet.h"

namespace shoal::engine {
namespace {

RegressionValues values_of(const std::vector<float>& targets, const std::vector<float>& predictions) {
  RegressionValues values;
  for (std::size_t i = 0; i < targets.size(); ++i) values.add(targets[i], predictions[i], 1);
  return values;
}

// Case 64.
TEST(RegressionMetrics, TiesShareTheMeanOfTheirRanks) {
  const std::vector<double> x = {1, 2, 2, 4}, y = {1, 3, 2, 4};
  EXPECT_NEAR(spearman(x, y), 0.948683, 5e-7);
  EXPECT_NEAR(spearman(x, y), 4.5 / std::sqrt(4.5 * 5.0), 1e-15);
}

TEST(RegressionMetrics, AreZeroAndSaySoWhereUndefined) {
  for (const auto& [targets, predictions] :
       {std::pair<std::vector<float>, std::vector<float>>{{1, 2, 3}, {0.1f, 0.1f, 0.1f}},
        {{2, 2}, {1, 3}},
        {{5}, {4}}}) {
    const RegressionValues values = values_of(targets, predictions);
    EXPECT_TRUE(values.undefined());
    EXPECT_EQ(find_metric(values.metrics(), "pearson"), 0);
    EXPECT_EQ(find_metric(values.metrics(), "spearmanr"), 0);
  }
  EXPECT_FALSE(values_of({1, 2}, {2, 1}).undefined());
}

TEST(RegressionMetrics, OfALine) {
  const Metrics m = values_of({1, 2, 3, 4}, {3, 5, 7, 9}).metrics();
  EXPECT_NEAR(*find_metric(m, "pearson"), 1, 1e-15);  // the last bits of two square roots
  EXPECT_NEAR(*find_metric(m, "spearmanr"), 1, 1e-15);
  EXPECT_EQ(find_metric(m, "mse"), (4 + 9 + 16 + 25) / 4.0);
  EXPECT_EQ(find_metric(m, "mae"), 3.5);
  EXPECT_EQ(find_metric(m, "loss"), 1);
  EXPECT_FALSE(greater_is_better("eval_mse"));
  EXPECT_TRUE(greater_is_better("pearson"));
}

JobSpec length_job(const std::filesystem::path& folder, const std::string& name) {
  JobSpec job = toy_job(folder, name, {.rows = 8});
  for (const auto& file : {job.train_file, job.validation_file}) {
    std::ofstream out(file);
    out << "text\tlabel\n";
    for (int r = 0; r < 64; ++r) {
      const bool high = r * 7 % 3 == 0;
      out << (high ? "w1" : "w2") << " w" << 3 + r % 9 << "\t" << (high ? "2.5" : "-1e0") << "\n";
    }
  }
  job.problem_type = ProblemType::kRegression;
  job.num_train_epochs = 6;
  return job;
}

TEST(Regression, LearnsAndIsExportedAndPredictsNumbers) {
  const TemporaryFolder folder;
  JobSpec job = length_job(folder.path(), "num");
  job.test_file = job.validation_file;
  job.metric_for_best_model = "pearson";
  const FleetResult result = train_toys(toy_fleet(folder / "run", {job}, 1));
  const JobResult& done = result.jobs.at(0);
  ASSERT_EQ(done.status, JobStatus::kDone) << done.reason;
  EXPECT_GT(find_metric(done.last, "pearson").value_or(0), 0.9);
  EXPECT_LT(find_metric(done.last, "mse").value_or(9), 1.0);
  EXPECT_EQ(done.test, done.last);

  const std::unique_ptr<Device> device = make_device("cpu", {.threads = 2});
  const EvalRequest request = fp32_request(done.folder, job.test_file);
  EXPECT_EQ(evaluate_model(request, *device), done.last);
  const Predictions answer = predict_models(request, {&request.model, 1}, *device).front();
  EXPECT_TRUE(answer.is_regression());
  EXPECT_EQ(answer.logits.size(), 64u);
  EXPECT_EQ(file_bytes(done.folder / "predictions.tsv").substr(0, 21), "row\tlabel\tprediction\n");
}

TEST(Regression, IsAloneWhatItIsBesideClassifiers) {
  const TemporaryFolder folder;
  const JobSpec number = length_job(folder.path(), "num");
  const JobSpec classes = toy_job(folder.path(), "classes", {});
  const FleetResult alone = train_toys(toy_fleet(folder / "alone", {number}, 1));
  const FleetResult both = train_toys(toy_fleet(folder / "both", {classes, number}, 2));
  EXPECT_TRUE(file_bytes(alone.jobs.at(0).folder / "model.safetensors") ==
              file_bytes(both.jobs.at(1).folder / "model.safetensors"));
}

TEST(Regression, RefusesWhatIsNotANumberAndMetricsOfClasses) {
  const TemporaryFolder folder;
  JobSpec job = length_job(folder.path(), "num");
  for (const char* cell : {"many", "", "nan", "inf", "1e99", "1,5", "2 "}) {
    std::ofstream(job.train_file) << "text\tlabel\nw1\t1\nw2\t" << cell << "\n";
    try {
      train_toys(toy_fleet(folder / "run", {job}, 1));
      FAIL() << cell;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), job.train_file.string() + ":3: error: column 'label' is '" + cell +
                                               "'; a regression learns finite numbers");
    }
  }
  job.metric_for_best_model = "accuracy";
  EXPECT_THROW(best_metric(job, 1), Error);
}

}  // namespace
}  // namespace shoal::engine
