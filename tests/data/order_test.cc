// The documented rule of data/order.h, written a second time, plainly.
#include "data/order.h"

#include <algorithm>
#include <numeric>

#include "kernels/base/philox.h"
#include "tests/data/support.h"

namespace shoal::data {
namespace {

TEST(EpochOrder, FollowsTheDocumentedRule) {
  const std::uint64_t seed = 0x123456789abcdef0u;
  std::vector<std::int32_t> wanted(1000);
  std::iota(wanted.begin(), wanted.end(), 0);
  const auto key = [&](std::int32_t row) {
    const Philox4 r = philox4x32_10(seed, static_cast<std::uint32_t>(row), 0, 3, 0x4f524452);
    return std::uint64_t{r.v[1]} << 32 | r.v[0];
  };
  std::stable_sort(wanted.begin(), wanted.end(), [&](auto a, auto b) { return key(a) < key(b); });
  EXPECT_EQ(epoch_order(1000, seed, 3), wanted);
}

TEST(EpochOrder, IsAPermutationThatChangesWithSeedAndEpoch) {
  std::vector<std::int32_t> order = epoch_order(257, 42, 0);
  EXPECT_NE(order, epoch_order(257, 42, 1));
  EXPECT_NE(order, epoch_order(257, 43, 0));
  EXPECT_EQ(order, epoch_order(257, 42, 0));
  std::ranges::sort(order);
  for (std::int32_t row = 0; row < 257; ++row) EXPECT_EQ(order[static_cast<std::size_t>(row)], row);
  EXPECT_TRUE(epoch_order(0, 1, 0).empty());
  EXPECT_EQ(epoch_order(1, 1, 0), std::vector<std::int32_t>{0});
}

// Fixed for all time: a resumed job must see the rows it would have seen.
TEST(EpochOrder, NeverChanges) {
  EXPECT_EQ(epoch_order(10, 42, 0), (std::vector<std::int32_t>{2, 7, 3, 0, 9, 6, 5, 1, 8, 4}));
}

TEST(EpochOrder, Refuses) {
  EXPECT_THROW(epoch_order(-1, 0, 0), Error);
  EXPECT_THROW(epoch_order(std::int64_t{1} << 31, 0, 0), Error);
  EXPECT_THROW(epoch_order(1, 0, -1), Error);
}

}  // namespace
}  // namespace shoal::data
