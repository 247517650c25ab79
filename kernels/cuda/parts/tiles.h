// Products of 128 x 128 tiles with 64 of the summed dimension a stage: how they are brought to shared memory
// and multiplied by eight warps. What all of the engine's GEMMs share.
#pragma once

#include <ptx/async_copy.h>

#include "kernels/cuda/parts/swizzle.h"

namespace shoal::SHOAL_TARGET {

// How an operand stands in memory. kAlongSum: rows of the output's dimension, the summed dimension (k)
// contiguous. kAcrossSum: rows of the summed dimension.
enum class Operand { kAlongSum, kAcrossSum };

constexpr int kGemmThreads = 256;
constexpr int kGemmTile = 128;  // rows and columns of outputs
constexpr int kGemmDepth = kTileColumns;
constexpr int kGemmStages = 3;
constexpr int kSumStride = kGemmTile + 8;  // floats: rows of sums in different banks

struct alignas(1024) GemmStage {
  bf16 a[kGemmTile * kGemmDepth];
  bf16 b[kGemmTile * kGemmDepth];
};
union GemmShared {
  GemmStage stage[kGemmStages];
  float sums[kGemmTile * kSumStride];  // when all stages have been used
};
static_assert(sizeof(float) * kGemmTile * kSumStride <= sizeof(GemmStage) * kGemmStages);

// Brings one operand's tile of a stage by four cp.async a thread. `from` is the tile's first element, in rows
// of ld. kWhole: all of it. Otherwise `outputs` of the output's dimension and `depth` of the summed one are
// inside; the rest becomes zeros and is not read (`from` stands for its address).
template <Operand kForm, bool kWhole>
__device__ __forceinline__ void bring_tile(bf16* tile, const bf16* from, int ld, int outputs, int depth) {
  const int thread = static_cast<int>(threadIdx.x), chunk = thread % kRowChunks;
  if (kForm == Operand::kAlongSum) {
    constexpr int kRows = kGemmThreads / kRowChunks;
    const int first = thread / kRowChunks;
    const int at = first * ld + chunk * kChunk;  // within a tile: 32 bits are enough
#pragma unroll
    for (int i = 0; i < kGemmTile / kRows; ++i) {
      const bool inside = kWhole || (first + i * kRows < outputs && chunk * kChunk < depth);
      copy_async_16(tile_chunk(tile, first + i * kRows, chunk, first & 7),
                    from + (inside ? at + i * kRows * ld : 0), inside);
    }
  } else {  // two halves of 64 outputs, each [64 of k][64]
    constexpr int kRows = kGemmThreads / (2 * kRowChunks);
    const int first = thread / (2 * kRowChunks), half = thread / kRowChunks % 2;
    const int column = half * kTileColumns + chunk * kChunk;
    const int at = first * ld + column;
#pragma unroll
    for (int i = 0; i < kGemmDepth / kRows; ++i) {
      const bool inside = kWhole || (first + i * kRows < depth && column < outputs);
      copy_async_16(tile_chunk(tile + half * kGemmDepth * kTileColumns, first + i * kRows, chunk, first & 7),
                    from + (inside ? at + i * kRows * ld : 0), inside);
    }
  }
}

// The fragment of a at outputs first .. first + 16 and of k .. k + 16, both multiples of 16.
template <Operand kForm>
__device__ __forceinline__ void load_a(std::uint32_t (&a)[4], bf16* tile, int first, int k, int lane) {
  const int key = lane & 7;  // of all rows below, as all else in them is a multiple of 8
  if (kForm == Operand::kAlongSum) {
    ldmatrix_x4(a, tile_chunk(tile, first + (lane & 15), k / 8 + (lane >> 4), key));
  } else {
    bf16* const half = tile + first / kTileColumns * (kGemmDepth * kTileColumns);
    const int chunk = first % kTileColumns / 8 + (lane >> 3 & 1);
    ldmatrix_x4_trans(a, tile_chunk(half, k + (lane & 7) + (lane >> 4) * 8, chunk, key));
  }
}
// The fragments of b at outputs first .. first + 8 (b[0], b[1]) and first + 8 .. first + 16 (b[2], b[3]).
template <Operand kForm>
__device__ __forceinline__ void load_b(std::uint32_t (&b)[4], bf16* tile, int first, int k, int lane) {
  const int key = lane & 7;
  if (kForm == Operand::kAlongSum) {
    ldmatrix_x4(b, tile_chunk(tile, first + (lane & 7) + (lane >> 4) * 8, k / 8 + (lane >> 3 & 1), key));
  } else {
    bf16* const half = tile + first / kTileColumns * (kGemmDepth * kTileColumns);
    ldmatrix_x4_trans(b, tile_chunk(half, k + (lane & 15), first % kTileColumns / 8 + (lane >> 4), key));
  }
}

// A warp's 64 x 32 of the block's outputs, in registers.
class WarpSums {
 public:
  static constexpr int kM = 64, kN = 32, kMTiles = kM / 16, kNPairs = kN / 16;

  __device__ WarpSums() : lane_(static_cast<int>(threadIdx.x) % 32) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    row_ = warp % 2 * kM;
    column_ = warp / 2 * kN;
  }

  __device__ void clear() {
#pragma unroll
    for (int m = 0; m < kMTiles; ++m) {
#pragma unroll
      for (int n = 0; n < 2 * kNPairs; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) sum_[m][n][i] = 0;
      }
    }
  }

  // Adds the products of one stage. kWhole: all of it; otherwise what lies within rows, columns and depth,
  // all of them multiples of 16 up to zeros.
  template <Operand kA, Operand kB, bool kWhole>
  __device__ void multiply(GemmStage& stage, int rows, int columns, int depth) {
    [[maybe_unused]] constexpr int kUnroll = kA == Operand::kAcrossSum ? 2 : 4;  // more of it would spill registers
#pragma unroll kUnroll
    for (int k = 0; k < kGemmDepth; k += 16) {
      if (!kWhole && k >= depth) break;
      std::uint32_t b[kNPairs][4];
#pragma unroll
      for (int n = 0; n < kNPairs; ++n) {
        if (kWhole || column_ + n * 16 < columns) load_b<kB>(b[n], stage.b, column_ + n * 16, k, lane_);
      }
#pragma unroll
      for (int m = 0; m < kMTiles; ++m) {
        if (!kWhole && row_ + m * 16 >= rows) continue;
        std::uint32_t a[4];
        load_a<kA>(a, stage.a, row_ + m * 16, k, lane_);
#pragma unroll
        for (int n = 0; n < kNPairs; ++n) {
          if (!kWhole && column_ + n * 16 >= columns) continue;
          mma_m16n8k16(sum_[m][2 * n], a, b[n][0], b[n][1]);
          mma_m16n8k16(sum_[m][2 * n + 1], a, b[n][2], b[n][3]);
        }
      }
    }
  }

  // sums[row][column] of the block, rows of kSumStride.
  __device__ void store(float* sums) const {
#pragma unroll
    for (int m = 0; m < kMTiles; ++m) {
#pragma unroll
      for (int n = 0; n < 2 * kNPairs; ++n) {
        float* const at = sums + (row_ + m * 16 + lane_ / 4) * kSumStride + column_ + n * 8 + lane_ % 4 * 2;
        *reinterpret_cast<float2*>(at) = make_float2(sum_[m][n][0], sum_[m][n][1]);
        *reinterpret_cast<float2*>(at + 8 * kSumStride) = make_float2(sum_[m][n][2], sum_[m][n][3]);
      }
    }
  }

 private:
  int lane_, row_, column_;
  float sum_[kMTiles][2 * kNPairs][4];
};

// Adds the products of `steps` stages. bring.operator()<kWhole>(stage, step) issues a step's copies. At the
// end shared memory is free.
template <Operand kA, Operand kB, bool kWhole, typename Bring>
__device__ __forceinline__ void multiply_stages(GemmShared& shared, WarpSums& sums, int steps, int rows,
                                                int columns, int depth, const Bring& bring) {
#pragma unroll
  for (int s = 0; s < kGemmStages - 1; ++s) {
    if (s < steps) bring.template operator()<kWhole>(shared.stage[s], s);
    copy_async_commit();
  }
  int now = 0, next = kGemmStages - 1;  // stages
  for (int s = 0; s < steps; ++s) {
    copy_async_wait<kGemmStages - 2>();
    __syncthreads();  // the tile is there for all, and the stage before it is free
    if (s + kGemmStages - 1 < steps)
      bring.template operator()<kWhole>(shared.stage[next], s + kGemmStages - 1);
    copy_async_commit();
    sums.multiply<kA, kB, kWhole>(shared.stage[now], rows, columns, depth - s * kGemmDepth);
    now = now + 1 == kGemmStages ? 0 : now + 1;
    next = next + 1 == kGemmStages ? 0 : next + 1;
  }
  copy_async_wait<0>();
  __syncthreads();
}

}  // namespace shoal::SHOAL_TARGET
