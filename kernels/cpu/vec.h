// Elementary functions on sixteen floats, without branches, and the fast ways into and out of bf16.
// The polynomials are minimax fits made for this file.
//
// Bounds, tested by tests/kernels/cpu_vec_test.cc against double:
//   exp16            relative error <= 2e-7; 0 below -87, infinity above 88.73, NaN stays NaN
//   normal16<float>  Phi within 1e-7, and within 5e-6 of itself for |x| <= 10
//   normal16<bf16>   Phi and phi within 2e-4 of themselves for |x| <= 7, a tenth of what rounding to
//                    bf16 costs
//   tanh16           relative error <= 5e-7
// An element's result depends on its value alone, wherever it stands. Nothing here ends below the smallest
// normal number: the CPU would take a hundred times as long for it.
#pragma once

#include "kernels/cpu/f32x16.h"

namespace shoal::cpu {

// The larger (smaller) of a bound and x; a NaN x stays.
inline f32x16 at_least(float bound, f32x16 x) {
  return bound > x ? splat(bound) : x;
}
inline f32x16 at_most(float bound, f32x16 x) {
  return bound < x ? splat(bound) : x;
}

// p 2^n of integers n, where that is normal or infinite.
inline f32x16 scale_by_power(f32x16 p, f32x16 n) {
#if defined(__AVX512F__)
  return reinterpret_cast<f32x16>(
      _mm512_maskz_scalef_ps(0xffff, reinterpret_cast<__m512>(p), reinterpret_cast<__m512>(n)));
#else  // in two factors: 2^128 alone is none
  const i32x16 e = __builtin_convertvector(n, i32x16), half = e >> 1;
  const auto low = reinterpret_cast<f32x16>((half + 127) << 23);
  const auto high = reinterpret_cast<f32x16>((e - half + 127) << 23);
  return p * low * high;
#endif
}

constexpr float kRoundToInteger = 12582912.0f;  // 1.5 * 2^23: adding and subtracting it rounds

inline f32x16 exp16(f32x16 argument) {
  const f32x16 x = at_most(89.0f, at_least(-87.0f, argument));
  const f32x16 n = fma(x, splat(1.44269504f), splat(kRoundToInteger)) - kRoundToInteger;
  f32x16 r = fma(n, splat(-0.693359375f), x);
  r = fma(n, splat(2.12194440e-4f), r);
  f32x16 p = fma(splat(0.00138145394f), r, splat(0.00836874545f));
  p = fma(p, r, splat(0.041668389f));
  p = fma(p, r, splat(0.166665211f));
  p = fma(p, r, splat(0.5f));
  p = fma(p, r * r, r) + 1.0f;
  return argument < -87.0f ? f32x16{} : scale_by_power(p, n);
}

// 1 / x of a normal x: exact to a unit in the last place, or to 14 bits.
template <bool kExact>
inline f32x16 reciprocal16(f32x16 x) {
#if defined(__AVX512F__)
  const auto r = reinterpret_cast<f32x16>(_mm512_maskz_rcp14_ps(0xffff, reinterpret_cast<__m512>(x)));
  if constexpr (!kExact) return r;
  return fma(r, fma(-x, r, splat(1.0f)), r);
#else
  return 1.0f / x;
#endif
}

// The standard normal distribution's Phi(x) and phi(x), sharing one exponential:
// Phi(-|x|) = erfc(z) / 2 = exp(-z^2) t P(t) / 2, z = |x| / sqrt 2, t = 1 / (1 + c z). For float, below
// |x| = 1, where one minus a tail is too coarse, Phi(x) = 1/2 + x Q(x^2).
struct Normal16 {
  f32x16 cdf;
  f32x16 density;
};

template <typename T>
inline Normal16 normal16(f32x16 x);

template <>
inline Normal16 normal16<float>(f32x16 x) {
  const f32x16 a = x < 0.0f ? -x : x, y = x * x;
  const f32x16 t = reciprocal16<true>(fma(splat(0.3f * 0.707106781f), a, splat(1.0f)));
  f32x16 p = fma(splat(-0.129522756f), t, splat(0.485562474f));
  p = fma(p, t, splat(-0.51227659f));
  p = fma(p, t, splat(0.547718287f));
  p = fma(p, t, splat(-0.0946495533f));
  p = fma(p, t, splat(0.214925557f));
  p = fma(p, t, splat(0.148339301f));
  p = fma(p, t, splat(0.170715213f));
  p = fma(p, t, splat(0.169188008f));
  const f32x16 e = exp16(at_least(-80.0f, y * -0.5f)), tail = e * 0.5f * (t * p);
  f32x16 q = fma(splat(-7.62232139e-06f), y, splat(0.0001134134f));
  q = fma(q, y, splat(-0.00118627213f));
  q = fma(q, y, splat(0.00997330528f));
  q = fma(q, y, splat(-0.0664903596f));
  q = fma(q, y, splat(0.398942292f));
  const f32x16 outer = x < 0.0f ? tail : 1.0f - tail;
  return {a < 1.0f ? fma(x, q, splat(0.5f)) : outer, e * 0.398942280f};
}

template <>
inline Normal16 normal16<bf16>(f32x16 x) {
  const f32x16 a = x < 0.0f ? -x : x;
  const f32x16 t = reciprocal16<false>(fma(splat(0.35f * 0.707106781f), a, splat(1.0f)));
  f32x16 p = fma(splat(0.541510999f), t, splat(-0.317372024f));
  p = fma(p, t, splat(0.43945238f));
  p = fma(p, t, splat(0.132484883f));
  p = fma(p, t, splat(0.203939483f));
  // exp(-x^2 / 2) = 2^y
  const f32x16 y = at_least(-110.0f, x * -0.721347520f * x);
  const f32x16 n = (y + kRoundToInteger) - kRoundToInteger, f = y - n;
  f32x16 e = fma(splat(0.0551710054f), f, splat(0.242615849f));
  e = fma(e, f, splat(0.693261445f));
  e = scale_by_power(fma(e, f, splat(0.999927819f)), n);
  const f32x16 tail = e * 0.5f * (t * p);
  return {x < 0.0f ? tail : 1.0f - tail, e * 0.398942280f};
}

template <typename T>
inline f32x16 gelu16(f32x16 u) {
  return u * normal16<T>(u).cdf;
}

template <typename T>
inline f32x16 dgelu16(f32x16 u) {
  const Normal16 n = normal16<T>(u);
  return fma(u, n.density, n.cdf);
}

inline f32x16 tanh16(f32x16 x) {
  const f32x16 a = x < 0.0f ? -x : x, y = x * x;
  f32x16 p = fma(splat(-0.00570498686f), y, splat(0.0206390861f));
  p = fma(p, y, splat(-0.0537397154f));
  p = fma(p, y, splat(0.133314416f));
  p = fma(p, y, splat(-0.333332807f));
  const f32x16 small = fma(x * y, p, x);
  const f32x16 large = 1.0f - 2.0f / (exp16(a * 2.0f) + 1.0f);
  const f32x16 signed_large = x < 0.0f ? -large : large;
  return a < 0.625f ? small : signed_large;
}

// Rounding to bf16 as the products want it: to nearest even, NaN quiet; where the CPU has an instruction
// for it, magnitudes below the smallest normal one become zero, as they do inside its products.
inline u16x16 to_bf16(f32x16 value) {
#if defined(__AVX512BF16__) && defined(__AVX512VL__)
  return (u16x16)_mm512_maskz_cvtneps_pbh(0xffff, reinterpret_cast<__m512>(value));
#else
  return narrow(value);
#endif
}

inline void put16(float* to, f32x16 value) {
  store16(to, value);
}
inline void put16(bf16* to, f32x16 value) {
  const u16x16 bits = to_bf16(value);
  std::memcpy(static_cast<void*>(to), &bits, sizeof bits);
}

// Stores the value and returns what was stored.
inline f32x16 put_rounded16(float* to, f32x16 value) {
  store16(to, value);
  return value;
}
inline f32x16 put_rounded16(bf16* to, f32x16 value) {
  const u16x16 bits = to_bf16(value);
  std::memcpy(static_cast<void*>(to), &bits, sizeof bits);
  return widen(bits);
}

template <typename T>
inline f32x16 as_operand(f32x16 value) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return value;
  } else {
    return widen(to_bf16(value));
  }
}

}  // namespace shoal::cpu
