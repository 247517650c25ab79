// The products of the linear ops, tile by tile, with what follows done on the hot tile.
//
// multiply_rows: for each slot, c = a w^T or c = a w with a the slot's activation rows. Work is divided
// into (slot, row tile, column tile); each tile of c is computed in f32 by one thread and handed to the
// epilogue, which rounds and stores it. fp32 goes to oneDNN's sgemm, called with one thread for tiles of
// a fixed size; bf16 to bf16_tiles.h. The bits of a row thus depend on its slot's own rows and weights,
// never on the lane or on the number of threads.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

#include "kernels/base/view.h"
#include "kernels/cpu/bf16_tiles.h"
#include "kernels/cpu/context.h"
#include "kernels/cpu/f32x16.h"

namespace shoal::cpu {

// c [rows, n] = a [rows, k] times w.
struct RowProduct {
  DType dtype = DType::kF32;
  const void* a = nullptr;
  Param w;  // [n,k] if transposed, else [k,n]
  bool transposed = false;
  int n = 0;
  int k = 0;
  Rows rows;
  void* results[2] = {};  // [rows, n] of dtype, or null: what the epilogue writes, for the tail rule
};

// A tile of the result: `live` rows from `row` (of the lane) on, columns `column` .. + n.
struct ResultTile {
  int slot = 0;
  std::int64_t row = 0;
  std::int64_t live = 0;
  int column = 0;
  int n = 0;
  const float* c = nullptr;  // [live, n] with ldc
  std::int64_t ldc = 0;
};

// Rows of a strip: bf16's epilogue gets so many at a time, one strip after the other down the columns.
constexpr std::int64_t kStripRows = 2 * kTile;

// Asks for n elements of what the epilogue will read with the next strip.
template <typename T>
void fetch_row(const T* from, int n) {
  for (int j = 0; j < n; j += 64 / static_cast<int>(sizeof(T))) fetch(from + j);
}

// Within it oneDNN sees one thread, also where our own parallel region has only one.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// c [m,n] = op(a) op(b) + beta c in f32; ld of what is in memory.
void multiply_f32(float* c, std::int64_t ldc, const float* a, std::int64_t lda, bool a_transposed,
                  const float* b, std::int64_t ldb, bool b_transposed, std::int64_t m, std::int64_t n,
                  std::int64_t k, float beta);

// How a product is divided. Of the slot's own shapes alone for fp32; bf16's bits do not depend on it.
struct TilePlan {
  TilePlan(const Context& context, const RowProduct& p);
  int row_tile = 0;
  int column_tile = 0;
  std::int64_t row_tiles = 0;  // of the longest slot
  std::int64_t column_tiles = 0;
  std::size_t scratch = 0;  // bytes a thread
};

// One item of the plan in this thread's scratch; strips of rows go to `epilogue`.
template <typename Epilogue>
void multiply_item_f32(const RowProduct& p, ResultTile tile, std::int64_t rows, float* scratch,
                       const Epilogue& epilogue) {
  const auto* const a = static_cast<const float*>(p.a) + tile.row * p.k;
  const auto* const w =
      static_cast<const float*>(p.w.base) + tile.slot * p.w.stride + tile.column * (p.transposed ? p.k : 1);
  multiply_f32(scratch, tile.n, a, p.k, false, w, p.transposed ? p.k : p.n, p.transposed, rows, tile.n, p.k,
               0);
  tile.c = scratch;
  tile.ldc = tile.n;
  epilogue(tile);
}

template <typename Epilogue>
void multiply_item_bf16(const RowProduct& p, ResultTile tile, std::int64_t rows, const TileScope& tiles,
                        std::byte* scratch, const Epilogue& epilogue) {
  auto* const b = reinterpret_cast<bf16*>(scratch);
  auto* const packed_a = b + packed_elements(tile.n, p.k);
  auto* const c = reinterpret_cast<float*>(packed_a + packed_elements(kStripRows, p.k));
  const auto* const w = static_cast<const bf16*>(p.w.base) + tile.slot * p.w.stride;
  if (p.transposed) {
    pack_b_transposed(b, w + std::int64_t{tile.column} * p.k, p.k, tile.n, p.k);
  } else {
    pack_b(b, w + tile.column, p.n, tile.n, p.k);
  }
  const std::int64_t row = tile.row, live = tile.live;
  for (std::int64_t i = 0; i < rows; i += kStripRows) {
    const std::int64_t m = std::min(kStripRows, rows - i);
    const auto* const a = static_cast<const bf16*>(p.a) + (row + i) * p.k;
    TilesA a_tiles = plain_tiles(a, p.k);
    if (p.k % kTileK != 0) {  // a whole tile would read the next row
      pack_a(packed_a, a, p.k, m, p.k);
      a_tiles = packed_tiles(packed_a, p.k);
    }
    tiles.multiply(c, tile.n, a_tiles, b, m, tile.n, p.k);
    tile.row = row + i;
    tile.live = std::min(m, live - i);
    tile.c = c;
    tile.ldc = tile.n;
    epilogue(tile);
  }
}

// The tail rule for some columns of one entry: zeros in rows live .. ceil128(live) of the results.
void zero_tail(const RowProduct& p, int w, int column, int n);

template <typename Epilogue>
void multiply_rows(Context& context, const RowProduct& p, const Epilogue& epilogue) {
  const TilePlan plan(context, p);
  context.reserve(plan.scratch);
  const std::int64_t items = p.rows.W * plan.row_tiles * plan.column_tiles;
#pragma omp parallel num_threads(context.threads)
  {
    const OneThread one;
    std::byte* const scratch = context.scratch<std::byte>(omp_get_thread_num());
#pragma omp for schedule(dynamic)
    for (std::int64_t item = 0; item < items; ++item) {
      const auto w = static_cast<int>(item / (plan.row_tiles * plan.column_tiles));
      const auto first = item / plan.column_tiles % plan.row_tiles * plan.row_tile;
      const std::int64_t live = p.rows.live[w];
      if (first >= live) continue;
      ResultTile tile;
      tile.slot = p.rows.slot[w];
      tile.row = p.rows.row0[w] + first;
      tile.live = std::min<std::int64_t>(plan.row_tile, live - first);
      tile.column = static_cast<int>(item % plan.column_tiles) * plan.column_tile;
      tile.n = std::min(plan.column_tile, p.n - tile.column);
      if (p.dtype == DType::kF32) {
        multiply_item_f32(p, tile, ceil16(tile.live), reinterpret_cast<float*>(scratch), epilogue);
      } else {
        const TileScope tiles(context.bf16_unit);
        multiply_item_bf16(p, tile, ceil16(tile.live), tiles, scratch, epilogue);
      }
      if (first + tile.live == live) zero_tail(p, w, tile.column, tile.n);
    }
  }
}

// The tail rule for whole rows of n columns.
void zero_tails(const Context& context, void* y, DType dtype, int n, const Rows& rows);

}  // namespace shoal::cpu
