#include "kernels/simt/tensor_core.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace shoal::simt {
namespace {

constexpr int kColumns = 8;
constexpr int kZero = -5000;      // exponent of nothing: loses against every other, also in a sum of two
constexpr int kSpecial = 20'000;  // of infinity and NaN: wins
// The largest exponents at which f32 arithmetic on the terms is exact, see step().
constexpr int kLow = -60, kHigh = 60;

int exponent_of(std::uint32_t magnitude, int fraction_bits) {
  const int biased = static_cast<int>(magnitude >> fraction_bits);
  if (magnitude == 0) return kZero;
  return biased == 255 ? kSpecial : std::max(biased, 1) - 127;
}
float to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// The sum cut toward zero to f32. `sum` in units of 2^unit.
float cut(double sum, int unit) {
  const double value = std::ldexp(sum, unit);
  if (std::abs(value) >= 0x1p-126) {
    return static_cast<float>(std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & ~0x1fffffffULL));
  }
  return static_cast<float>(std::ldexp(std::trunc(std::ldexp(value, 149)), -149));
}

// One step of one output by exact arithmetic in double, whatever the exponents.
float step_any(const TensorCore& core, float c, const float* a, const float* b, int largest,
               const int* exponents) {
  const auto special = [](float x) { return !std::isfinite(x); };
  if (special(c) || std::any_of(a, a + core.terms, special) || std::any_of(b, b + core.terms, special)) {
    float sum = c;
    for (int k = 0; k < core.terms; ++k) sum += a[k] * b[k];
    return sum;
  }
  const int unit = largest - core.fraction;
  const auto cut_term = [unit](double term) { return std::trunc(std::ldexp(term, -unit)); };
  double sum = 0.0;  // never -0
  sum += cut_term(c);
  for (int k = 0; k < core.terms; ++k) {
    if (exponents[k] > kZero / 2) sum += cut_term(static_cast<double>(a[k]) * b[k]);
  }
  return cut(sum, unit);
}

// One step of one row of outputs. Within kLow .. kHigh every product that is not cut to nothing is exact in
// f32, scaled terms are below 2^27, and eight of them fit in 32 bits.
void step(const TensorCore& core, float (&d)[kColumns], const float* a, const int* a_exponent,
          const float (*b)[kColumns], const int (*b_exponent)[kColumns]) {
  int largest[kColumns];
  for (int j = 0; j < kColumns; ++j)
    largest[j] = exponent_of(std::bit_cast<std::uint32_t>(d[j]) & 0x7fffffff, 23);
  for (int k = 0; k < core.terms; ++k) {
    for (int j = 0; j < kColumns; ++j) largest[j] = std::max(largest[j], a_exponent[k] + b_exponent[k][j]);
  }
  float scale[kColumns];
  std::int32_t first[kColumns], second[kColumns] = {};
  bool plain = true;
  for (int j = 0; j < kColumns; ++j) {
    const bool nothing = largest[j] < kZero / 2;
    plain = plain && (nothing || (largest[j] >= kLow && largest[j] <= kHigh));
    const int bounded = std::clamp(largest[j], kLow, kHigh);
    scale[j] = std::bit_cast<float>(static_cast<std::uint32_t>(core.fraction - bounded + 127) << 23);
  }
  if (!plain) {
    for (int j = 0; j < kColumns; ++j) {
      if (largest[j] < kZero / 2) {
        d[j] = 0;
        continue;
      }
      float column[16];
      int exponents[16];
      for (int k = 0; k < core.terms; ++k) {
        column[k] = b[k][j];
        exponents[k] = a_exponent[k] + b_exponent[k][j];
      }
      d[j] = step_any(core, d[j], a, column, largest[j], exponents);
    }
    return;
  }
  for (int j = 0; j < kColumns; ++j) first[j] = static_cast<std::int32_t>(d[j] * scale[j]);
  for (int k = 0; k < 8; ++k) {
    for (int j = 0; j < kColumns; ++j) second[j] += static_cast<std::int32_t>(a[k] * b[k][j] * scale[j]);
  }
  for (int k = 8; k < core.terms; ++k) {
    for (int j = 0; j < kColumns; ++j) first[j] += static_cast<std::int32_t>(a[k] * b[k][j] * scale[j]);
  }
  for (int j = 0; j < kColumns; ++j) {
    const double sum = static_cast<double>(first[j]) + static_cast<double>(second[j]);
    const double value = sum / static_cast<double>(scale[j]);
    d[j] = static_cast<float>(std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & ~0x1fffffffULL));
  }
}

}  // namespace

void multiply_m16n8k16(const TensorCore& core, float (&d)[16][8], const std::uint16_t (&a)[16][16],
                       const std::uint16_t (&b)[16][8]) {
  float b_value[16][kColumns];
  int b_exponent[16][kColumns];
  for (int k = 0; k < 16; ++k) {
    for (int j = 0; j < kColumns; ++j) {
      b_value[k][j] = to_float(b[k][j]);
      b_exponent[k][j] = exponent_of(b[k][j] & 0x7fff, 7);
    }
  }
  for (int i = 0; i < 16; ++i) {
    float a_value[16];
    int a_exponent[16];
    for (int k = 0; k < 16; ++k) {
      a_value[k] = to_float(a[i][k]);
      a_exponent[k] = exponent_of(a[i][k] & 0x7fff, 7);
    }
    for (int k = 0; k < 16; k += core.terms) {
      step(core, d[i], a_value + k, a_exponent + k, b_value + k, b_exponent + k);
    }
  }
}

}  // namespace shoal::simt
