// Sixteen floats as one value: the unit of work of every row op on the CPU.
//
// GCC's vector types: one AVX-512 register where there is one, else two or four narrower ones, always
// with the same sums in the same order. fma() is written out wherever a product is added, so that a
// result does not hang on what the compiler chooses to fuse in which copy of a loop.
// Rows are C % 16 == 0 wide, so a row is whole vectors; single parameters come in any number, and go
// through load_first() and store_first().
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "kernels/base/dtype.h"

// GCC warns that values wider than the machine's registers change the ABI: these never leave a file.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace shoal::cpu {

constexpr int kLanes = 16;

using f32x16 = float __attribute__((vector_size(64)));
using i32x16 = std::int32_t __attribute__((vector_size(64)));
using u32x16 = std::uint32_t __attribute__((vector_size(64)));
using u16x16 = std::uint16_t __attribute__((vector_size(32)));

inline f32x16 splat(float value) {
  return value - f32x16{};
}

inline u16x16 load_bits(const void* from) {
  u16x16 bits;
  std::memcpy(&bits, from, sizeof bits);
  return bits;
}

inline f32x16 widen(u16x16 bits) {
  return reinterpret_cast<f32x16>(__builtin_convertvector(bits, u32x16) << 16);
}

// The rounding of shoal::bf16. The CPU's own instruction does the same but for subnormal numbers, which it
// takes as zero: they go the long way.
inline u16x16 narrow(f32x16 value) {
#if defined(__AVX512BF16__) && defined(__AVX512DQ__)
  constexpr int kSubnormal = 0x20;
  const auto v = reinterpret_cast<__m512>(value);
  if (__builtin_expect(_mm512_fpclass_ps_mask(v, kSubnormal) == 0, 1)) {
    return reinterpret_cast<u16x16>(_mm512_cvtneps_pbh(v));
  }
#endif
  const auto u = reinterpret_cast<u32x16>(value);
  const u32x16 nearest = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  const u32x16 quiet_nan = (u >> 16) | 0x40u;
  return __builtin_convertvector((u & 0x7fffffffu) > 0x7f800000u ? quiet_nan : nearest, u16x16);
}

inline f32x16 load16(const float* from) {
  f32x16 value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline f32x16 load16(const bf16* from) {
  return widen(load_bits(from));
}

inline void store16(float* to, f32x16 value) {
  std::memcpy(to, &value, sizeof value);
}
inline void store16(bf16* to, f32x16 value) {
  const u16x16 bits = narrow(value);
  std::memcpy(static_cast<void*>(to), &bits, sizeof bits);
}

// Stores the value and returns what the memory now holds.
inline f32x16 store_rounded(float* to, f32x16 value) {
  store16(to, value);
  return value;
}
inline f32x16 store_rounded(bf16* to, f32x16 value) {
  const u16x16 bits = narrow(value);
  std::memcpy(static_cast<void*>(to), &bits, sizeof bits);
  return widen(bits);
}

// What storing as T would leave, where nothing is to be stored.
template <typename T>
inline f32x16 round_to(f32x16 value) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return value;
  } else {
    return widen(narrow(value));
  }
}

// Asks for memory ahead of its use. Row ops run along many short streams at once, in which the hardware
// does not run ahead far enough by itself.
inline void fetch(const void* from) {
  __builtin_prefetch(from, 0);
}
inline void fetch_to_write(const void* to) {
  __builtin_prefetch(to, 1);
}

// `value` in the first n lanes, `rest` in the others; n may be any number.
inline f32x16 first_lanes(f32x16 value, std::int64_t n, f32x16 rest) {
  constexpr i32x16 kIndex = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return kIndex < static_cast<std::int32_t>(n) ? value : rest;
}

// The first n < 16 elements, zeros behind them; and back.
inline f32x16 load_first(const float* from, std::int64_t n) {
  f32x16 value = {};
  std::memcpy(&value, from, static_cast<std::size_t>(n) * sizeof(float));
  return value;
}
inline void store_first(float* to, f32x16 value, std::int64_t n) {
  std::memcpy(to, &value, static_cast<std::size_t>(n) * sizeof(float));
}
inline void store_first(bf16* to, f32x16 value, std::int64_t n) {
  const u16x16 bits = narrow(value);
  std::memcpy(static_cast<void*>(to), &bits, static_cast<std::size_t>(n) * sizeof(bf16));
}

#if defined(__AVX__) && !defined(__AVX512F__)
// The two halves of a value, for instructions that the vector types do not name.
struct Halves {
  __m256 low, high;
};
#endif

// a b + c, fused where the CPU can.
inline f32x16 fma(f32x16 a, f32x16 b, f32x16 c) {
#if defined(__AVX512F__)
  return reinterpret_cast<f32x16>(
      _mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
#elif defined(__FMA__)
  const auto x = std::bit_cast<Halves>(a), y = std::bit_cast<Halves>(b), z = std::bit_cast<Halves>(c);
  return std::bit_cast<f32x16>(
      Halves{_mm256_fmadd_ps(x.low, y.low, z.low), _mm256_fmadd_ps(x.high, y.high, z.high)});
#else
  return a * b + c;
#endif
}

inline f32x16 sqrt(f32x16 a) {
#if defined(__AVX512F__)
  return reinterpret_cast<f32x16>(_mm512_maskz_sqrt_ps(0xffff, reinterpret_cast<__m512>(a)));
#elif defined(__AVX__)
  const auto x = std::bit_cast<Halves>(a);
  return std::bit_cast<f32x16>(Halves{_mm256_sqrt_ps(x.low), _mm256_sqrt_ps(x.high)});
#else
  f32x16 root;
  for (int i = 0; i < kLanes; ++i) root[i] = std::sqrt(a[i]);
  return root;
#endif
}

// The sum of the sixteen, halves onto halves.
inline float sum16(f32x16 a) {
  using f32x8 = float __attribute__((vector_size(32)));
  using f32x4 = float __attribute__((vector_size(16)));
  const f32x8 eight = __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7) +
                      __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15);
  const f32x4 four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

}  // namespace shoal::cpu
