// binary16 against the compiler's own type, exhaustively.
#include "models/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace shoal::models {
namespace {

TEST(Half, EveryValueWidensExactlyAndComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = half_to_float(half);
    const float expected = static_cast<float>(std::bit_cast<_Float16>(half));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(half_to_float(float_to_half(value)))) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(value), std::bit_cast<std::uint32_t>(expected)) << bits;
      ASSERT_EQ(float_to_half(value), half);
    }
  }
}

TEST(Half, NarrowsLikeTheCompiler) {
  // A stride that is no power of two reaches every exponent, ties and both neighbours of ties.
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 4099) {
    for (const std::uint64_t near : {bits & ~std::uint64_t{0xfff}, bits, bits | 0xfffu}) {
      const float value = std::bit_cast<float>(static_cast<std::uint32_t>(near));
      if (std::isnan(value)) continue;
      const auto expected = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
      ASSERT_EQ(float_to_half(value), expected) << value;
    }
  }
  EXPECT_EQ(float_to_half(65519.996f), 0x7bffu);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00u);
  EXPECT_EQ(float_to_half(0x1.8p-25f), 0x0001u);
  EXPECT_EQ(float_to_half(0x1p-25f), 0x0000u);  // a tie, to even
}

}  // namespace
}  // namespace shoal::models
