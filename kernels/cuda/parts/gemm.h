// The engine's own GEMM: out[rows, P] = a[rows, Q] b per slot, what becomes of the sums being told by an
// epilogue.
//
// A block makes 128 rows of one entry by 128 columns: eight warps, each 64 x 32 in registers, mma.sync over
// tiles of 64 of Q that three stages of cp.async bring. k ascends in one accumulator, whatever the tile, so
// an output's bits depend on its row and column alone. Rows beyond live, columns beyond P and k beyond Q are
// zeros that nobody read; 16 x 8 products that lie there whole are not made.
#pragma once

#include "kernels/cuda/parts/rows.h"
#include "kernels/cuda/parts/tiles.h"
#include "kernels/cuda/parts/vector8.h"

namespace shoal::SHOAL_TARGET {

struct Gemm {
  const void* a;  // [rows, Q]
  Param b;        // [P, Q] or [Q, P], by the operand's form
  int P = 0;
  int Q = 0;
  Rows rows;
};

constexpr int kGemmRowGroup = 8;  // row tiles that walk through the columns together, for the cache's sake

// epilogue(row of the lane, column, sums of eight columns, slot) for live rows; epilogue.zero(row, column)
// for the other rows of the tail.
template <Operand kB, typename Epilogue>
__device__ __forceinline__ void gemm_block(const Gemm& g, const Epilogue& epilogue) {
  SHOAL_DYNAMIC_SHARED(GemmShared, shared);
  const int column_tiles = (g.P + kGemmTile - 1) / kGemmTile;
  const std::int64_t row_tiles = g.rows.rows / kGemmTile;
  const std::int64_t group = blockIdx.x / (kGemmRowGroup * column_tiles);
  const int in_group = static_cast<int>(blockIdx.x % (kGemmRowGroup * column_tiles));
  const int height =
      static_cast<int>(min(static_cast<std::int64_t>(kGemmRowGroup), row_tiles - group * kGemmRowGroup));
  const std::int64_t row_tile = group * kGemmRowGroup + in_group % height;
  const int column = in_group / height * kGemmTile;
  const RunOfRows run = run_of_rows(g.rows, row_tile * kGemmTile, kGemmTile);
  if (run.tail == 0) return;
  const int slot = g.rows.slot[run.w], columns = min(kGemmTile, g.P - column);

  const bf16* const a = row_of<bf16>(g.a, run.first, g.Q);
  const bf16* const b = of_slot<bf16>(g.b, slot);
  const auto bring = [&]<bool kWhole>(GemmStage& stage, int step) {
    const int k = step * kGemmDepth;
    bring_tile<Operand::kAlongSum, kWhole>(stage.a, a + k, g.Q, run.live, g.Q - k);
    if (kB == Operand::kAlongSum) {
      bring_tile<kB, kWhole>(stage.b, b + static_cast<std::int64_t>(column) * g.Q + k, g.Q, columns, g.Q - k);
    } else {
      bring_tile<kB, kWhole>(stage.b, b + static_cast<std::int64_t>(k) * g.P + column, g.P, columns, g.Q - k);
    }
  };
  const int steps = (g.Q + kGemmDepth - 1) / kGemmDepth;
  WarpSums sums;
  sums.clear();
  if (run.live == kGemmTile && columns == kGemmTile && g.Q % kGemmDepth == 0) {
    multiply_stages<Operand::kAlongSum, kB, true>(shared, sums, steps, run.live, columns, g.Q, bring);
  } else {
    multiply_stages<Operand::kAlongSum, kB, false>(shared, sums, steps, run.live, columns, g.Q, bring);
  }
  sums.store(shared.sums);
  __syncthreads();
  constexpr int kChunks = kGemmTile / kChunk;
  const int at = static_cast<int>(threadIdx.x) % kChunks * kChunk;
  if (at >= columns) return;
  for (int row = static_cast<int>(threadIdx.x) / kChunks; row < run.tail; row += kGemmThreads / kChunks) {
    if (row < run.live) {
      float v[8];
      load8_f32(v, shared.sums + row * kSumStride + at);
      epilogue(run.first + row, column + at, v, slot);
    } else {
      epilogue.zero(run.first + row, column + at);
    }
  }
}

inline Launch gemm_launch(const char* name, const Gemm& g, Stream stream) {
  const std::int64_t blocks = g.rows.rows / kGemmTile * ((g.P + kGemmTile - 1) / kGemmTile);
  return {.name = name,
          .grid = dim3(static_cast<unsigned>(blocks)),
          .block = dim3(kGemmThreads),
          .shared = sizeof(GemmShared),
          .stream = stream};
}

// v + the bias of its columns, in f32.
__device__ __forceinline__ void add_bias(float (&v)[8], const Param& b, int slot, int column) {
  if (b.base == nullptr) return;
  float bias[8];
  load8(bias, of_slot<bf16>(b, slot) + column);
#pragma unroll
  for (int j = 0; j < 8; ++j) v[j] += bias[j];
}

}  // namespace shoal::SHOAL_TARGET
