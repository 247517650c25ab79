#include "engine/compare.h"

#include <gtest/gtest.h>

#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

// Rows of which a alone, b alone, both and none are right.
std::pair<PredictionRows, PredictionRows> rows_of(int only_a, int only_b, int both, int none) {
  PredictionRows a, b;
  const auto add = [&](int count, const char* says_a, const char* says_b) {
    for (int i = 0; i < count; ++i) {
      for (PredictionRows* rows : {&a, &b}) {
        rows->row.push_back(static_cast<std::int64_t>(rows->row.size()) + 2);
        rows->label.push_back("yes");
      }
      a.prediction.push_back(says_a);
      b.prediction.push_back(says_b);
    }
  };
  add(only_a, "yes", "no");
  add(only_b, "no", "yes");
  add(both, "yes", "yes");
  add(none, "no", "no");
  return {a, b};
}

// scipy.stats.binomtest(few, n, 0.5).pvalue.
TEST(Compare, McNemarIsTheExactBinomialTest) {
  EXPECT_NEAR(mcnemar_exact(5, 15), 0.04138946533203125, 1e-12);
  EXPECT_NEAR(mcnemar_exact(15, 5), 0.04138946533203125, 1e-12);
  EXPECT_NEAR(mcnemar_exact(0, 6), 0.03125, 1e-12);
  EXPECT_NEAR(mcnemar_exact(40, 60), 0.05688793364098078, 1e-12);
  EXPECT_EQ(mcnemar_exact(10, 10), 1);
  EXPECT_EQ(mcnemar_exact(0, 0), 1);
}

// 1,000 rows, b better by 60: the bootstrap's standard deviation is that of a mean of -1, 0, 1:
// sqrt((100 + 160) / 1000 - 0.06^2) / sqrt(1000) = 0.0160, so the interval is 0.06 -+ 1.96 of it. A
// percentile of 10,000 resamples is within 0.001 of that.
TEST(Compare, TheIntervalIsThatOfTheMean) {
  const auto [a, b] = rows_of(100, 160, 500, 240);
  const Comparison c = compare(a, b);
  EXPECT_EQ(c.rows, 1000);
  EXPECT_NEAR(c.accuracy_a, 0.600, 1e-12);
  EXPECT_NEAR(c.accuracy_b, 0.660, 1e-12);
  EXPECT_NEAR(c.low, 0.06 - 1.96 * 0.0160, 2e-3);
  EXPECT_NEAR(c.high, 0.06 + 1.96 * 0.0160, 2e-3);
  EXPECT_EQ(c.only_a, 100);
  EXPECT_EQ(c.only_b, 160);
  const Comparison other_way = compare(b, a);
  EXPECT_EQ(other_way.low, -c.high);
  EXPECT_EQ(other_way.mcnemar_p, c.mcnemar_p);
}

TEST(Compare, EqualModelsDoNotDiffer) {
  const auto [a, b] = rows_of(0, 0, 7, 3);
  const Comparison c = compare(a, b, 200);
  EXPECT_EQ(c.low, 0);
  EXPECT_EQ(c.high, 0);
  EXPECT_EQ(c.mcnemar_p, 1);
}

TEST(Compare, RefusesOtherRows) {
  const auto [a, unused_b] = rows_of(1, 1, 1, 0);
  const auto [unused_a, b] = rows_of(1, 1, 2, 0);
  EXPECT_THROW(compare(a, b), Error);
  PredictionRows relabelled = a;
  relabelled.label[0] = "no";
  EXPECT_THROW(compare(a, relabelled), Error);
}

}  // namespace
}  // namespace shoal::engine
