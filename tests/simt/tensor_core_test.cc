// The fast form of the tensor-core model has the bits of the plain one.
#include "kernels/simt/tensor_core.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "bench/probe/rounding_model.h"

namespace shoal::simt {
namespace {

struct Product {
  std::uint16_t a[16][16];
  std::uint16_t b[16][8];
  float d[16][8];
};

std::uint16_t bf16_bits(float x) {
  std::uint32_t u;
  std::memcpy(&u, &x, sizeof u);
  return static_cast<std::uint16_t>(u >> 16);
}

void compare(const Product& p, const char* what) {
  for (const TensorCore core : {kAmpere, kHopper}) {
    float d[16][8];
    std::memcpy(d, p.d, sizeof d);
    multiply_m16n8k16(core, d, p.a, p.b);
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 8; ++j) {
        std::uint16_t column[16];
        for (int k = 0; k < 16; ++k) column[k] = p.b[k][j];
        const float want = probe::tensor_core_dot({core.terms, core.fraction}, p.a[i], column, 16, p.d[i][j]);
        ASSERT_EQ(std::memcmp(&want, &d[i][j], sizeof want), 0)
            << what << ", " << core.terms << " terms, (" << i << ", " << j << "): " << d[i][j] << " for "
            << want;
      }
    }
  }
}

// Exponents within 2^-spread .. 2^spread, some values zero, accumulators of the products' size.
Product random_product(std::mt19937& random, int spread) {
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> exponent(-spread, spread), one_in_eight(0, 7);
  const auto value = [&] {
    return one_in_eight(random) == 0 ? 0.0f : std::ldexp(normal(random), exponent(random));
  };
  Product p;
  for (auto& row : p.a) {
    for (auto& x : row) x = bf16_bits(value());
  }
  for (auto& row : p.b) {
    for (auto& x : row) x = bf16_bits(value());
  }
  for (auto& row : p.d) {
    for (auto& x : row) x = value() * value();
  }
  return p;
}

TEST(TensorCoreModel, HasTheBitsOfThePlainForm) {
  std::mt19937 random(7);
  for (const int spread : {0, 3, 12, 30, 62}) {
    for (int i = 0; i < 200; ++i) compare(random_product(random, spread), "random");
  }
}

TEST(TensorCoreModel, TakesZerosSubnormalsAndTheSmallest) {
  Product p{};
  compare(p, "zeros");
  for (auto& row : p.d) {
    for (auto& x : row) x = -0.0f;
  }
  compare(p, "negative zeros");
  for (auto& row : p.a) {
    for (auto& x : row) x = 0x0003;  // subnormal
  }
  for (auto& row : p.b) {
    for (auto& x : row) x = bf16_bits(0x1p-20f);
  }
  compare(p, "subnormal factors");
  for (auto& row : p.b) {
    for (auto& x : row) x = bf16_bits(-0x1.8p100f);
  }
  compare(p, "subnormal by large");
  for (auto& row : p.a) {
    for (auto& x : row) x = bf16_bits(0x1p-70f);
  }
  for (auto& row : p.b) {
    for (auto& x : row) x = bf16_bits(0x1.4p-72f);
  }
  compare(p, "subnormal sums");
}

// The plain form leaves them out.
TEST(TensorCoreModel, HandsOnNanAndInfinity) {
  Product p{};
  p.a[3][4] = bf16_bits(INFINITY);
  p.b[4][0] = bf16_bits(1.0f);
  p.b[4][1] = bf16_bits(0.0f);
  p.d[5][2] = NAN;
  p.d[6][2] = -INFINITY;
  multiply_m16n8k16(kHopper, p.d, p.a, p.b);
  EXPECT_EQ(p.d[3][0], INFINITY);
  EXPECT_TRUE(std::isnan(p.d[3][1]));
  EXPECT_TRUE(std::isnan(p.d[5][2]));
  EXPECT_EQ(p.d[6][2], -INFINITY);
  EXPECT_EQ(p.d[7][7], 0.0f);
}

}  // namespace
}  // namespace shoal::simt
