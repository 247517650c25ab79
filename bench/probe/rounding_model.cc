#include "bench/probe/rounding_model.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace shoal::probe {
namespace {

constexpr int kMaxTerms = 17;  // 16 products and the accumulator
constexpr int kSmallest = -100000;

// value = significand * 2^(exponent - bits): `bits` fraction bits, the hidden one not normalised in products.
struct Term {
  std::int64_t significand = 0;
  int exponent = kSmallest;
  int bits = 0;
};

// The top `fraction_bits` + 9 bits of a binary32-like number: f32 has 23, bf16 is f32 cut to 7.
Term unpack(std::uint32_t raw, int fraction_bits) {
  const std::uint32_t fraction = raw & ((1u << fraction_bits) - 1);
  const int biased = static_cast<int>(raw >> fraction_bits & 0xFF);
  const bool negative = (raw >> (fraction_bits + 8) & 1) != 0;
  Term t;
  t.bits = fraction_bits;
  t.exponent = std::max(biased, 1) - 127;  // subnormals: the smallest exponent, no hidden bit
  t.significand = biased == 0 ? fraction : fraction | 1u << fraction_bits;
  if (t.significand == 0) t.exponent = kSmallest;
  if (negative) t.significand = -t.significand;
  return t;
}

// The term in units of 2^(largest - fraction), cut toward zero.
std::int64_t aligned(const Term& t, int largest, int fraction) {
  const int shift = fraction - t.bits - (largest - t.exponent);
  if (shift >= 0) return t.significand * (std::int64_t{1} << shift);
  if (shift < -62) return 0;
  return t.significand / (std::int64_t{1} << -shift);
}

// sum * 2^unit as f32, cut toward zero: at most 24 significant bits, fewer where the result is subnormal.
float cut_to_f32(std::int64_t sum, int unit) {
  std::int64_t magnitude = std::llabs(sum);
  int length = 0;
  while (length < 63 && (magnitude >> length) != 0) ++length;
  const int drop = std::max({0, length - 24, -149 - unit});
  magnitude = drop > 62 ? 0 : magnitude >> drop << drop;
  const double exact = std::ldexp(static_cast<double>(magnitude), unit);
  return static_cast<float>(sum < 0 ? -exact : exact);
}

float one_step(const TensorCore& core, const std::uint16_t* a, const std::uint16_t* b, float c) {
  Term terms[kMaxTerms];
  int largest = kSmallest;
  for (int i = 0; i < core.terms; ++i) {
    const Term x = unpack(a[i], 7), y = unpack(b[i], 7);
    if (x.significand != 0 && y.significand != 0) {
      terms[i] = {x.significand * y.significand, x.exponent + y.exponent, 14};
      largest = std::max(largest, terms[i].exponent);
    }
  }
  std::uint32_t raw;
  std::memcpy(&raw, &c, sizeof raw);
  terms[core.terms] = unpack(raw, 23);
  largest = std::max(largest, terms[core.terms].exponent);
  if (largest == kSmallest) return 0.0f;
  std::int64_t sum = 0;
  for (int i = 0; i <= core.terms; ++i) sum += aligned(terms[i], largest, core.fraction);
  return cut_to_f32(sum, largest - core.fraction);
}

}  // namespace

float tensor_core_dot(const TensorCore& core, const std::uint16_t* a, const std::uint16_t* b, int count,
                      float c) {
  for (int k = 0; k < count; k += core.terms) c = one_step(core, a + k, b + k, c);
  return c;
}

}  // namespace shoal::probe
