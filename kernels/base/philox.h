// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (SC 2011). Pure functions of (key, counter): the same bits on every
// device, in any order, whoever computes beside.
//
// Who uses which counters:
//   dropout, hidden     key = job seed; c0 = update, c1 = micro << 16 | site, c2 = element / 8, c3 = 0
//   dropout, attention  key = job seed; c0 = update, c1 = micro << 16 | site,
//                       c2 = sequence << 16 | head << 8 | lane, c3 = (i >> 4) << 16 | (j >> 4)
//   initialisation      models/weights.h       row order   data/order.h
//   draws of `search`   engine/config/distribution.h
// One dropout call gives eight 16-bit numbers; an element is kept if its number is < threshold.
#pragma once

#include <cstdint>

#include "kernels/base/hd.h"

namespace shoal {

struct Philox4 {
  std::uint32_t v[4];
};

SHOAL_HD inline Philox4 philox4x32_10(std::uint64_t key, std::uint32_t c0, std::uint32_t c1, std::uint32_t c2,
                                      std::uint32_t c3) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key);
  std::uint32_t k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0;
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c2;
    c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(p1);
    c3 = static_cast<std::uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return Philox4{{c0, c1, c2, c3}};
}

// The i-th (0..7) of the eight 16-bit numbers of a call: low half of word i/2 first.
SHOAL_HD inline std::uint32_t philox_u16(const Philox4& r, int i) {
  return (r.v[i >> 1] >> ((i & 1) * 16)) & 0xffffu;
}

// keep threshold of a drop probability: an element is kept if its 16 bits are < threshold and then
// scaled by 65536 / threshold, so that the expectation is exact. 65536 keeps everything.
SHOAL_HD inline std::uint32_t dropout_threshold(double p) {
  return static_cast<std::uint32_t>(65536.0 * (1.0 - p) + 0.5);
}

// Attention probabilities: element (i, j) of a sequence's S x S matrix lives in lane `lane` of the
// 16x16 tile (i >> 4, j >> 4), at place `slot` of that lane's eight (the mma.m16n8k16 C fragments).
SHOAL_HD inline std::uint32_t attention_dropout_lane(int i, int j) {
  return static_cast<std::uint32_t>((i & 7) * 4 + ((j & 7) >> 1));
}
SHOAL_HD inline int attention_dropout_slot(int i, int j) {
  return ((j >> 3) & 1) * 4 + ((i >> 3) & 1) * 2 + (j & 1);
}

}  // namespace shoal
