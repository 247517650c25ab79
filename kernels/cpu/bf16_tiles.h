// Products of bf16 matrices in 16 x 16 tiles, for AMX and for AVX512-BF16.
//
// C += A B with f32 C. k goes up in steps of 32, each C element has one accumulator, kept in f32
// between blocks of k: its bits depend on its own row of A, its own column of B and k alone, whatever
// the tiling and the neighbours. One thread works; who calls divides the work.
//
// B (and A, where its rows are not contiguous) is packed first, once for all that multiplies with it:
//   A tile  16 rows x 32 k as they stand: 16 x 64 bytes
//   B tile  16 pairs of k x 16 columns, the two of a pair side by side: 16 x 64 bytes
// Tiles of one row (or column) stripe lie end to end, k ascending; k is filled up with zeros.
//
// Why by hand: oneDNN's matmul reads strided operands and writes strided results by a slower path than
// dense ones, and the tiles of this project are strided.
#pragma once

#include <cstdint>

#include "kernels/base/dtype.h"
#include "kernels/cpu/context.h"

namespace shoal::cpu {

constexpr int kTile = 16;   // rows or columns of a tile
constexpr int kTileK = 32;  // k of a tile
constexpr int kTileElements = kTile * kTileK;

constexpr std::int64_t k_tiles(std::int64_t k) {
  return (k + kTileK - 1) / kTileK;
}
// Elements of a packed operand: n rows or columns (a multiple of 16) by k.
constexpr std::int64_t packed_elements(std::int64_t n, std::int64_t k) {
  return n / kTile * k_tiles(k) * kTileElements;
}

// A: where tile (stripe, step of k) starts, and how far apart its rows are; in elements.
struct TilesA {
  const bf16* base = nullptr;
  std::int64_t stripe = 0;
  std::int64_t step = 0;
  std::int64_t row = 0;
};

// Packing. `n` counts rows of A or columns of B; `k` may be anything. Where the n of the operand are its rows
// in memory, n may be anything too: they are filled up to 16 with zeros. Else n is a multiple of 16.
void pack_a(bf16* to, const bf16* a, std::int64_t ld, std::int64_t n, std::int64_t k);             // a [n,k]
void pack_a_transposed(bf16* to, const bf16* a, std::int64_t ld, std::int64_t n, std::int64_t k);  // a [k,n]
void pack_b(bf16* to, const bf16* b, std::int64_t ld, std::int64_t n, std::int64_t k);             // b [k,n]
void pack_b_transposed(bf16* to, const bf16* b, std::int64_t ld, std::int64_t n, std::int64_t k);  // b [n,k]

inline TilesA packed_tiles(const bf16* a, std::int64_t k) {
  return {a, k_tiles(k) * kTileElements, kTileElements, kTileK};
}
inline TilesA plain_tiles(const bf16* a, std::int64_t ld) {
  return {a, kTile * ld, kTileK, ld};
}

// Sets up this thread's tile registers; released at the end of the scope.
class TileScope {
 public:
  explicit TileScope(Bf16Unit unit);
  ~TileScope();
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

  // c [m,n] = A B with ldc, or += if add; m, n multiples of 16, b packed.
  void multiply(float* c, std::int64_t ldc, const TilesA& a, const bf16* b, std::int64_t m, std::int64_t n,
                std::int64_t k, bool add = false) const;

 private:
  Bf16Unit unit_;
};

}  // namespace shoal::cpu
