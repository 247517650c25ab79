#include "kernels/cpu/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <cstring>

#include "kernels/base/error.h"

namespace shoal::cpu {
namespace {

constexpr int kRowTileF32 = 512;
constexpr int kColumnTileF32 = 192;
constexpr std::int64_t kRowTileBf16 = 1024;  // at most: the tiles of a slot are of even size
constexpr int kColumnTileBf16 = 128;         // halved where there would be too few items for the threads
constexpr int kItemsOfThread = 3;

}  // namespace

TilePlan::TilePlan(const Context& context, const RowProduct& p) {
  const bool f32 = p.dtype == DType::kF32;
  require(f32 || context.bf16_unit != Bf16Unit::kNone,
          "cpu: bf16 needs AVX512-BF16 or AMX, which this CPU lacks");
  std::int64_t longest = 0;
  for (int w = 0; w < p.rows.W; ++w) longest = std::max<std::int64_t>(longest, p.rows.live[w]);
  if (f32) {
    row_tile = kRowTileF32;
    column_tile = std::min(p.n, kColumnTileF32);
    scratch = sizeof(float) * static_cast<std::size_t>(row_tile) * static_cast<std::size_t>(column_tile);
  } else {
    const std::int64_t even = tiles_of(longest, std::max<std::int64_t>(1, tiles_of(longest, kRowTileBf16)));
    row_tile = static_cast<int>(round_up(std::max<std::int64_t>(1, even), 2 * kTile));
    column_tile = std::min(p.n, kColumnTileBf16);
    const std::int64_t items = p.rows.W * tiles_of(longest, row_tile) * tiles_of(p.n, column_tile);
    if (items < kItemsOfThread * context.threads) column_tile = std::min(p.n, kColumnTileBf16 / 2);
    scratch = static_cast<std::size_t>(
        2 * (packed_elements(round_up(column_tile, kTile), p.k) + packed_elements(2 * kTile, p.k)) +
        4 * 2 * kTile * column_tile);
  }
  row_tiles = tiles_of(longest, row_tile);
  column_tiles = tiles_of(p.n, column_tile);
}

void multiply_f32(float* c, std::int64_t ldc, const float* a, std::int64_t lda, bool a_transposed,
                  const float* b, std::int64_t ldb, bool b_transposed, std::int64_t m, std::int64_t n,
                  std::int64_t k, float beta) {
  // Sizes are checked by the op's contract: the call cannot fail.
  dnnl_sgemm(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', m, n, k, 1.0f, a, lda, b, ldb, beta, c, ldc);
}

void zero_tail(const RowProduct& p, int w, int column, int n) {
  const auto size = static_cast<std::int64_t>(size_of(p.dtype));
  const std::int64_t live = p.rows.live[w];
  for (void* const result : p.results) {
    if (result == nullptr) continue;
    for (std::int64_t r = live; r < ceil128(live); ++r) {
      auto* const row = static_cast<std::byte*>(result) + ((p.rows.row0[w] + r) * p.n + column) * size;
      std::memset(row, 0, static_cast<std::size_t>(n * size));
    }
  }
}

void zero_tails(const Context& context, void* y, DType dtype, int n, const Rows& rows) {
  const auto row_bytes = static_cast<std::int64_t>(size_of(dtype)) * n;
#pragma omp parallel for num_threads(context.threads) schedule(static)
  for (int w = 0; w < rows.W; ++w) {
    const std::int64_t live = rows.live[w], tail = ceil128(live) - live;
    std::memset(static_cast<std::byte*>(y) + (rows.row0[w] + live) * row_bytes, 0,
                static_cast<std::size_t>(tail * row_bytes));
  }
}

}  // namespace shoal::cpu
