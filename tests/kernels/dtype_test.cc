#include "kernels/base/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace shoal {
namespace {

std::uint16_t bits(float value) {
  return bf16(value).bits;
}
float back(float value) {
  return static_cast<float>(bf16(value));
}

TEST(BFloat16, RoundsToNearestTiesToEven) {
  EXPECT_EQ(bits(1.0f), 0x3f80);
  EXPECT_EQ(back(1.0f + 0x1p-8f), 1.0f);  // a tie: the even one is below
  EXPECT_EQ(back(1.0f + 0x1p-8f + 0x1p-20f), 1.0f + 0x1p-7f);
  EXPECT_EQ(back(1.0f + 3 * 0x1p-8f), 1.0f + 2 * 0x1p-7f);  // a tie: the even one is above
  EXPECT_EQ(back(-1.0f - 3 * 0x1p-8f), -1.0f - 2 * 0x1p-7f);
}

TEST(BFloat16, KeepsTheSpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(back(infinity), infinity);
  EXPECT_EQ(back(-infinity), -infinity);
  EXPECT_EQ(bits(0.0f), 0x0000);
  EXPECT_EQ(bits(-0.0f), 0x8000);
  EXPECT_EQ(back(std::numeric_limits<float>::max()), infinity);  // nearer to the next power of two
  EXPECT_EQ(back(0x1p-133f), 0x1p-133f);                         // its smallest subnormal
  EXPECT_EQ(back(0x1p-135f), 0.0f);
  // A NaN whose payload stands in the lower half only must not become an infinity.
  EXPECT_TRUE(std::isnan(back(std::bit_cast<float>(0x7f800001u))));
  EXPECT_TRUE(std::isnan(back(std::bit_cast<float>(0xffffffffu))));
}

TEST(BFloat16, GivesBackEveryOneOfItsValues) {
  for (std::uint32_t u = 0; u <= 0xffff; ++u) {
    bf16 value;
    value.bits = static_cast<std::uint16_t>(u);
    const float f = static_cast<float>(value);
    if (!std::isnan(f)) {
      ASSERT_EQ(bits(f), u);
    }
  }
}

}  // namespace
}  // namespace shoal
