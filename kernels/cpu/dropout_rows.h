// Hidden dropout (philox.h's hidden table) for runs of elements, many Philox calls at a time.
//
// A 64-bit lane carries one 32-bit word of one call: the 32 x 32 -> 64 multiply reads the low halves
// alone, so the upper halves may hold anything until the end, and a round is two multiplies, two moves
// and two xors for as many calls as a register has lanes.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/base/philox.h"
#include "kernels/base/view.h"
#include "kernels/cpu/f32x16.h"

namespace shoal::cpu {

// Dropout of one entry at one site.
struct RowDropout {
  bool active = false;  // false: every element is kept, as it is
  std::uint64_t key = 0;
  std::uint32_t update = 0;
  std::uint32_t micro_site = 0;
  std::uint32_t threshold = 65536;
  float scale = 1;
};

inline RowDropout row_dropout(const Drop& drop, int w) {
  RowDropout d;
  if (drop.seed == nullptr || drop.threshold[w] >= 65536) return d;
  d.active = true;
  d.key = drop.seed[w];
  d.update = static_cast<std::uint32_t>(drop.update[w]);
  d.micro_site = static_cast<std::uint32_t>(drop.micro[w]) << 16 | drop.site;
  d.threshold = drop.threshold[w];
  d.scale = 65536.0f / static_cast<float>(d.threshold);
  return d;
}

// As many 64-bit lanes as the machine's widest register has.
#if defined(__AVX512F__)
constexpr int kPhiloxLanes = 8;
#elif defined(__AVX2__)
constexpr int kPhiloxLanes = 4;
#else
constexpr int kPhiloxLanes = 2;
#endif
using PhiloxWord = std::uint64_t __attribute__((vector_size(8 * kPhiloxLanes)));

inline PhiloxWord multiply_low_halves(PhiloxWord a, PhiloxWord b) {
#if defined(__AVX512F__)
  return reinterpret_cast<PhiloxWord>(
      _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<PhiloxWord>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

// One register's worth of calls: c2 = first, first + 1, ...
class PhiloxCalls {
 public:
  PhiloxCalls(const RowDropout& d, std::uint32_t first) {
    PhiloxWord lane = {};
    for (int i = 0; i < kPhiloxLanes; ++i) lane[i] = static_cast<std::uint64_t>(i);
    c0_ = PhiloxWord{} + d.update;
    c1_ = PhiloxWord{} + d.micro_site;
    c2_ = lane + first;
    c3_ = PhiloxWord{};
  }

  void round(std::uint32_t k0, std::uint32_t k1) {
    const PhiloxWord p0 = multiply_low_halves(c0_, PhiloxWord{} + 0xD2511F53u);
    const PhiloxWord p1 = multiply_low_halves(c2_, PhiloxWord{} + 0xCD9E8D57u);
    c0_ = (p1 >> 32) ^ c1_ ^ (PhiloxWord{} + k0);
    c2_ = (p0 >> 32) ^ c3_ ^ (PhiloxWord{} + k1);
    c1_ = p1;
    c3_ = p0;
  }

  // The calls' four words one call after the other: in memory, the 16-bit numbers in element order.
  void store(std::uint16_t* to) const {
    const PhiloxWord low = (c0_ & 0xffffffffu) | (c1_ << 32);
    const PhiloxWord high = (c2_ & 0xffffffffu) | (c3_ << 32);
#if defined(__AVX512F__)
    const PhiloxWord calls[2] = {__builtin_shufflevector(low, high, 0, 8, 1, 9, 2, 10, 3, 11),
                                 __builtin_shufflevector(low, high, 4, 12, 5, 13, 6, 14, 7, 15)};
#elif defined(__AVX2__)
    const PhiloxWord calls[2] = {__builtin_shufflevector(low, high, 0, 4, 1, 5),
                                 __builtin_shufflevector(low, high, 2, 6, 3, 7)};
#else
    const PhiloxWord calls[2] = {__builtin_shufflevector(low, high, 0, 2),
                                 __builtin_shufflevector(low, high, 1, 3)};
#endif
    std::memcpy(to, calls, sizeof calls);
  }

 private:
  PhiloxWord c0_, c1_, c2_, c3_;
};

// Elements that one turn of dropout_numbers writes: buffers are rounded up to it.
constexpr int kDropoutRun = 2 * 8 * kPhiloxLanes;
static_assert(128 % kDropoutRun == 0);

// The 16-bit numbers of elements first .. first + count of the slot; first % 8 == 0. Writes up to
// round_up(count, 128) of them.
inline void dropout_numbers(std::uint16_t* to, const RowDropout& d, std::int64_t first, std::int64_t count) {
  const auto call = static_cast<std::uint32_t>(first / 8);
  for (std::int64_t i = 0; i < count; i += kDropoutRun) {
    const std::uint32_t at = call + static_cast<std::uint32_t>(i / 8);
    PhiloxCalls a(d, at), b(d, at + kPhiloxLanes);
    auto k0 = static_cast<std::uint32_t>(d.key), k1 = static_cast<std::uint32_t>(d.key >> 32);
    for (int r = 0; r < 10; ++r) {
      a.round(k0, k1);
      b.round(k0, k1);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    a.store(to + i);
    b.store(to + i + 8 * kPhiloxLanes);
  }
}

// value scaled where the element is kept, exactly 0 where it is not, whatever value is.
inline f32x16 masked(f32x16 value, const std::uint16_t* numbers, const RowDropout& d) {
  const u32x16 number = __builtin_convertvector(load_bits(numbers), u32x16);
  return number < d.threshold ? value * d.scale : f32x16{};
}

}  // namespace shoal::cpu
