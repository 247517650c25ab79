// The CPU's elementary functions against double, within the bounds that kernels/cpu/vec.h states.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/cpu/vec.h"

namespace shoal::cpu {
namespace {

constexpr double kStep = 0.0037;  // incommensurate with the fits' nodes

template <typename Function>
float at(Function function, float x) {
  return function(splat(x))[5];
}

double phi_of(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}
double density_of(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
}

TEST(CpuVec, Exp) {
  for (double x = -86.9; x < 88.7; x += kStep) {
    const auto f = static_cast<float>(x);
    const double want = std::exp(static_cast<double>(f));
    ASSERT_NEAR(at(exp16, f) / want, 1.0, 2e-7) << f;
  }
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(at(exp16, -infinity), 0.0f);
  EXPECT_EQ(at(exp16, -87.5f), 0.0f);
  EXPECT_EQ(at(exp16, 88.8f), infinity);
  EXPECT_EQ(at(exp16, infinity), infinity);
  EXPECT_EQ(at(exp16, 0.0f), 1.0f);
  EXPECT_TRUE(std::isnan(at(exp16, NAN)));
}

TEST(CpuVec, NormalOfFloat) {
  for (double x = -10; x < 10; x += kStep) {
    const auto f = static_cast<float>(x);
    const float got = at([](f32x16 v) { return normal16<float>(v).cdf; }, f);
    ASSERT_NEAR(got, phi_of(f), 1e-7) << f;
    ASSERT_NEAR(got / phi_of(f), 1.0, 5e-6) << f;
    // The density carries the rounding of x^2 / 2, up to 50, in its exponent.
    ASSERT_NEAR(at([](f32x16 v) { return normal16<float>(v).density; }, f) / density_of(f), 1.0, 5e-6) << f;
  }
}

TEST(CpuVec, NormalOfBf16) {
  for (double x = -7; x < 7; x += kStep) {
    const auto f = static_cast<float>(x);
    ASSERT_NEAR(at([](f32x16 v) { return normal16<bf16>(v).cdf; }, f) / phi_of(f), 1.0, 2e-4) << f;
    ASSERT_NEAR(at([](f32x16 v) { return normal16<bf16>(v).density; }, f) / density_of(f), 1.0, 2e-4) << f;
  }
}

TEST(CpuVec, GeluFarOut) {
  for (const float x : {20.0f, 1e3f, 1e6f}) {
    EXPECT_EQ(at(gelu16<float>, x), x);
    EXPECT_EQ(at(gelu16<bf16>, x), x);
    EXPECT_NEAR(at(gelu16<float>, -x), 0.0, 1e-25);
    EXPECT_NEAR(at(gelu16<bf16>, -x), 0.0, 1e-25);
  }
  EXPECT_TRUE(std::isnan(at(gelu16<float>, NAN)));
  EXPECT_TRUE(std::isnan(at(gelu16<bf16>, NAN)));
}

TEST(CpuVec, Tanh) {
  for (double x = -12; x < 12; x += kStep) {
    const auto f = static_cast<float>(x);
    if (f == 0.0f) continue;
    ASSERT_NEAR(at(tanh16, f) / std::tanh(static_cast<double>(f)), 1.0, 5e-7) << f;
  }
  EXPECT_TRUE(std::isnan(at(tanh16, NAN)));
}

// to_bf16 is shoal::bf16's rounding; below the normal range the instruction may give zero.
TEST(CpuVec, Bf16Rounding) {
  for (std::uint32_t bits = 0; bits < 0xfff00000u; bits += 0x1357u) {
    const float x = std::bit_cast<float>(bits);
    if (std::isnan(x) || (x != 0 && std::abs(x) < std::numeric_limits<float>::min())) continue;
    ASSERT_EQ(to_bf16(splat(x))[5], bf16(x).bits) << x;
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(std::bit_cast<bf16>(std::uint16_t{to_bf16(splat(NAN))[5]}))));
}

}  // namespace
}  // namespace shoal::cpu
