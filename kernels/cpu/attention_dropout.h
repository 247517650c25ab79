// Dropout of attention probabilities by philox.h's attention table, a 16 x 16 tile at a time.
//
// A tile is 32 calls (lanes). Row r of the tile, r < 8, is words 0 and 2 of lanes 4 r .. 4 r + 3, row r + 8
// words 1 and 3 of the same lanes: two numbers a word, in column order. So words stored one after the other
// are rows of 16-bit numbers, and a tile of few rows needs the first lanes only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/base/view.h"
#include "kernels/cpu/dropout_rows.h"
#include "kernels/cpu/f32x16.h"

namespace shoal::cpu {

class HeadDropout {
 public:
  HeadDropout(const Drop& drop, const SeqItem& item, int head)
      : drop_(row_dropout(drop, item.w)),
        first_lane_(static_cast<std::uint32_t>(item.seq) << 16 | static_cast<std::uint32_t>(head) << 8) {}

  bool active() const { return drop_.active; }
  float scale() const { return drop_.scale; }

  // The numbers of rows i .. i + rows and columns j .. j + columns of the S x S matrix (i, j multiples of
  // 16) into `to` [rows, ld]. Fills up whole vectors of columns.
  void numbers(std::uint16_t* to, std::int64_t ld, std::int64_t i, std::int64_t j, std::int64_t rows,
               std::int64_t columns) const {
    for (std::int64_t r = 0; r < rows; r += kLanes) {
      for (std::int64_t c = 0; c < columns; c += kLanes) {
        tile(to + r * ld + c, ld,
             static_cast<std::uint32_t>((i + r) >> 4) << 16 | static_cast<std::uint32_t>((j + c) >> 4),
             static_cast<int>(std::min<std::int64_t>(kLanes, rows - r)));
      }
    }
  }

  // value where the element is kept, else 0.
  f32x16 kept(f32x16 value, const std::uint16_t* number) const {
    return __builtin_convertvector(load_bits(number), u32x16) < drop_.threshold ? value : f32x16{};
  }

 private:
  static constexpr int kTileLanes = 32;

  void tile(std::uint16_t* to, std::int64_t ld, std::uint32_t c3, int rows) const {
    std::uint32_t word[4][kTileLanes];
    const int lanes = std::min(rows, 8) * 4;
    for (int lane = 0; lane < lanes; lane += kPhiloxLanes) {
      PhiloxWord number = {};
      for (int n = 0; n < kPhiloxLanes; ++n) number[n] = first_lane_ + static_cast<std::uint32_t>(lane + n);
      PhiloxWord c[4] = {PhiloxWord{} + drop_.update, PhiloxWord{} + drop_.micro_site, number,
                         PhiloxWord{} + c3};
      auto k0 = static_cast<std::uint32_t>(drop_.key), k1 = static_cast<std::uint32_t>(drop_.key >> 32);
#pragma GCC unroll 10
      for (int round = 0; round < 10; ++round) {
        const PhiloxWord p0 = multiply_low_halves(c[0], PhiloxWord{} + 0xD2511F53u);
        const PhiloxWord p1 = multiply_low_halves(c[2], PhiloxWord{} + 0xCD9E8D57u);
        c[0] = (p1 >> 32) ^ c[1] ^ (PhiloxWord{} + k0);
        c[2] = (p0 >> 32) ^ c[3] ^ (PhiloxWord{} + k1);
        c[1] = p1;
        c[3] = p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
      }
      for (int w = 0; w < 4; ++w) {
        using Words = std::uint32_t __attribute__((vector_size(4 * kPhiloxLanes)));
        const Words low = __builtin_convertvector(c[w], Words);
        std::memcpy(&word[w][lane], &low, sizeof low);
      }
    }
    for (int row = 0; row < rows; ++row) {
      std::memcpy(to + row * ld, &word[row >> 3][(row & 7) * 4], 16);
      std::memcpy(to + row * ld + 8, &word[2 + (row >> 3)][(row & 7) * 4], 16);
    }
  }

  RowDropout drop_;
  std::uint32_t first_lane_ = 0;
};

}  // namespace shoal::cpu
