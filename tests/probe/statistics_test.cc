#include "bench/probe/statistics.h"

#include <gtest/gtest.h>

namespace shoal::probe {
namespace {

TEST(Statistics, TheMedianIsTheMiddleWhateverTheOrder) {
  const Spread s = spread_of({5, 1, 3, 2, 4});
  EXPECT_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.low, 1.4);
  EXPECT_DOUBLE_EQ(s.high, 4.6);
  EXPECT_EQ(s.runs, 5);
}

TEST(Statistics, OneDisturbedRunDoesNotMoveTheMedian) {
  EXPECT_EQ(spread_of({1, 1, 1, 1, 100}).median, 1);
}

TEST(Statistics, TheSlowestTimeIsTheLowestRate) {
  const Spread r = rate_of(spread_of({1, 2, 4}), 8);
  EXPECT_EQ(r.median, 4);
  EXPECT_LT(r.low, r.median);
  EXPECT_GT(r.high, r.median);
}

}  // namespace
}  // namespace shoal::probe
