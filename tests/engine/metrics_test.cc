// Metrics against scikit-learn 1.9: accuracy_score, f1_score(average=...), matthews_corrcoef.
#include "engine/metrics.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  const char* name;
  std::int64_t n_labels;
  std::vector<std::int64_t> labels, predicted;
  // f1 (binary) only with two labels
  double accuracy, f1, macro, micro, weighted, matthews;
};

const Case kCases[] = {
    {"binary",
     2,
     {0, 0, 1, 1},
     {0, 0, 1, 0},
     0.75,
     0.6666666666666666,
     0.7333333333333334,
     0.75,
     0.7333333333333334,
     0.5773502691896258},
    // Case 65: the third class is declared, never present; over declared classes macro would be 0.4889.
    {"declared_only",
     3,
     {0, 0, 1, 1},
     {0, 0, 1, 0},
     0.75,
     0,
     0.7333333333333334,
     0.75,
     0.7333333333333334,
     0.5773502691896258},
    {"many",
     6,
     {0, 1, 2, 2, 3, 1, 0, 4, 4, 2, 1, 0},
     {0, 2, 2, 1, 3, 1, 1, 4, 0, 2, 1, 3},
     0.5833333333333334,
     0,
     0.5942857142857142,
     0.5833333333333334,
     0.5761904761904763,
     0.47749685522864627},
    {"never_predicted",
     3,
     {0, 0, 0, 1, 2},
     {0, 0, 2, 2, 2},
     0.6,
     0,
     0.43333333333333335,
     0.6,
     0.5800000000000001,
     0.4629100498862757},
    {"only_predicted", 3, {0, 0, 0, 0}, {0, 1, 0, 2}, 0.5, 0, 0.2222222222222222, 0.5, 0.6666666666666666, 0},
    {"constant_prediction",
     2,
     {0, 1, 1, 0},
     {1, 1, 1, 1},
     0.5,
     0.6666666666666666,
     0.3333333333333333,
     0.5,
     0.3333333333333333,
     0},
    {"no_positive", 2, {0, 0, 0}, {0, 0, 0}, 1, 0, 1, 1, 1, 0},
    {"all_wrong", 2, {0, 1, 0, 1, 1}, {1, 0, 1, 0, 0}, 0, 0, 0, 0, 0, -1},
    {"one_row", 2, {1}, {1}, 1, 1, 1, 1, 1, 0},
};

Metrics measure(const Case& c) {
  ClassificationCounts counts(c.n_labels);
  for (std::size_t r = 0; r < c.labels.size(); ++r) counts.add(c.labels[r], c.predicted[r], 0.5 * double(r));
  EXPECT_EQ(counts.rows(), std::int64_t(c.labels.size()));
  return counts.metrics();
}

class MetricsOf : public testing::TestWithParam<Case> {};

TEST_P(MetricsOf, AgreesWithSklearn) {
  const Case& c = GetParam();
  const Metrics metrics = measure(c);
  // Sums of at most a dozen terms of size 1 in another order than numpy's.
  const double tolerance = 1e-14;
  const auto value = [&](const char* name) { return find_metric(metrics, name).value_or(kNan); };
  EXPECT_NEAR(value("accuracy"), c.accuracy, tolerance);
  EXPECT_EQ(find_metric(metrics, "f1").has_value(), c.n_labels == 2);
  if (c.n_labels == 2) {
    EXPECT_NEAR(value("f1"), c.f1, tolerance);
  }
  EXPECT_NEAR(value("f1_macro"), c.macro, tolerance);
  EXPECT_NEAR(value("f1_micro"), c.micro, tolerance);
  EXPECT_NEAR(value("f1_weighted"), c.weighted, tolerance);
  EXPECT_NEAR(value("eval_matthews_correlation"), c.matthews, tolerance);
  EXPECT_NEAR(value("eval_loss"), 0.25 * double(c.labels.size() - 1), tolerance);
}

TEST_P(MetricsOf, HaveTheAnnouncedNamesInOrder) {
  std::vector<std::string> names;
  for (const auto& [name, value] : measure(GetParam())) names.push_back(name);
  EXPECT_EQ(names, metric_names(GetParam().n_labels));
}

INSTANTIATE_TEST_SUITE_P(Cases, MetricsOf, testing::ValuesIn(kCases),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(Metrics, NoRowsIsAnErrorNotANan) {
  EXPECT_THROW(ClassificationCounts(2).metrics(), Error);
}

TEST(Metrics, AnIdOutsideTheLabelsIsRefused) {
  ClassificationCounts counts(2);
  EXPECT_THROW(counts.add(2, 0, 0), Error);
  EXPECT_THROW(counts.add(0, -1, 0), Error);
}

// Case 55: of .5, nan, .6 the last is best, whatever comes when.
TEST(BestModel, NanIsWorseThanEverything) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (bool greater : {false, true}) {
    EXPECT_FALSE(is_better(kNan, 0.5, greater));
    EXPECT_TRUE(is_better(0.6, kNan, greater));
    EXPECT_TRUE(is_better(greater ? -infinity : infinity, kNan, greater));
    EXPECT_FALSE(is_better(kNan, kNan, greater));
    EXPECT_FALSE(is_better(0.5, 0.5, greater)) << "a tie keeps the earlier";
    EXPECT_EQ(is_better(0.6, 0.5, greater), greater);
  }
}

TEST(BestModel, DirectionIsKnownOfTheMetric) {
  EXPECT_FALSE(greater_is_better("loss"));
  EXPECT_FALSE(greater_is_better("eval_loss"));
  EXPECT_TRUE(greater_is_better("accuracy"));
  EXPECT_TRUE(greater_is_better("eval_matthews_correlation"));
}

std::string refusal(const JobSpec& job, std::int64_t n_labels) {
  try {
    best_metric(job, n_labels);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(BestModel, GoesByLossUnlessAsked) {
  const BestMetric best = best_metric({}, 2);
  EXPECT_EQ(best.name, "loss");
  EXPECT_FALSE(best.greater);
}

TEST(BestModel, TakesEveryMeasuredMetricWithAndWithoutPrefix) {
  for (std::int64_t n_labels : {2, 3}) {
    for (const std::string& name : metric_names(n_labels)) {
      for (const char* prefix : {"", "eval_"}) {
        JobSpec job;
        job.metric_for_best_model = prefix + name;
        EXPECT_EQ(best_metric(job, n_labels).name, name);
        job.greater_is_better = name != "loss";
        EXPECT_EQ(best_metric(job, n_labels).greater, name != "loss");
        job.greater_is_better = name == "loss";
        EXPECT_NE(refusal(job, n_labels).find("contradicts"), std::string::npos);
      }
    }
  }
}

TEST(BestModel, RefusesAnUnknownMetricBeforeTraining) {
  JobSpec job;
  job.where = "demo.toml:12:1";
  job.name = "mood";
  job.metric_for_best_model = "f2";
  EXPECT_EQ(refusal(job, 2),
            "demo.toml:12:1: error: job mood: metric_for_best_model = \"f2\" is not measured (the data has 2 "
            "labels); "
            "allowed: loss, accuracy, f1, f1_macro, f1_micro, f1_weighted, matthews_correlation");
}

// Case 65: binary F1 has no meaning with three classes; said at the start, with what there is instead.
TEST(BestModel, RefusesBinaryF1OfManyLabelsInWords) {
  JobSpec job;
  for (const char* name : {"f1", "eval_f1"}) {
    job.metric_for_best_model = name;
    EXPECT_EQ(refusal(job, 2), "");
    EXPECT_NE(refusal(job, 3).find("f1_macro, f1_micro or f1_weighted"), std::string::npos);
  }
}

}  // namespace
}  // namespace shoal::engine
