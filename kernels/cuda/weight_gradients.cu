// linear_backward_weight_group: one launch for all weight gradients, bias gradients and LayerNorm sums of a
// call. A block makes a 128 x 128 tile of one entry's dw (parts/tiles.h; the rows of the activations are the
// summed dimension), or the sums of some columns of one LayerNorm. The bias's sums are made by the first tile
// of its columns, of the dy that passes through shared memory; where that tile is not wanted, in the same
// order of global memory: a bias has the same bits beside a weight and alone.
#include "kernels/cuda/parts/refuse.h"
#include "kernels/cuda/parts/rows.h"
#include "kernels/cuda/parts/tiles.h"
#include "kernels/cuda/parts/vector8.h"
#include "kernels/weight_gradients.h"

namespace shoal::SHOAL_TARGET {
namespace {

constexpr int kSumRows = 4096;         // rows of one accumulator before it meets f32 memory
constexpr int kPairs = kGemmTile / 2;  // of columns of the bias: one a thread
constexpr int kPairRows = kGemmDepth * kPairs / kGemmThreads;  // of a step, that a thread sums
constexpr int kAhead = kGemmStages - 1;                        // steps between a stage's copies and its use
constexpr int kJobs = LinearBackwardWeightGroup::kMaxItems + LinearBackwardWeightGroup::kMaxNorms;

struct Group {
  LinearBackwardWeightGroup args;
  // Blocks of items, then of norms: job j has blocks first[j] .. first[j + 1].
  std::int64_t first[kJobs + 1];
};

struct Shared {
  GemmShared gemm;
  // Bias: a thread's two columns, x and y of the current kRowChunk rows, z and w of those before. Here and
  // not in registers, of which the products need all.
  float4 pair[kGemmThreads];
};

constexpr int tiles(int n) {
  return (n + kGemmTile - 1) / kGemmTile;
}

// Four floats at g: set, or added to.
__device__ __forceinline__ void put4(float* g, float4 v, bool add) {
  if (add) {
    const float4 before = *reinterpret_cast<const float4*>(g);
    v = make_float4(before.x + v.x, before.y + v.y, before.z + v.z, before.w + v.w);
  }
  *reinterpret_cast<float4*>(g) = v;
}

// The block's tile, from shared memory to dw; null sums: zeros.
__device__ void put_tile(float* dw, const float* sums, int K, int rows, int columns, bool add) {
  constexpr int kFours = kGemmTile / 4;
  const int at = static_cast<int>(threadIdx.x) % kFours * 4;
  if (at >= columns) return;
  for (int row = static_cast<int>(threadIdx.x) / kFours; row < rows; row += kGemmThreads / kFours) {
    const float4 v = sums == nullptr ? make_float4(0, 0, 0, 0)
                                     : *reinterpret_cast<const float4*>(sums + row * kSumStride + at);
    put4(dw + static_cast<std::int64_t>(row) * K + at, v, add);
  }
}

// Adds the rows of one of `steps` steps to the thread's sums; pair(row of the step) are its two columns
// there.
template <typename Pair>
__device__ __forceinline__ void add_step(Shared& shared, int step, int steps, const Pair& pair) {
  static_assert(kRowChunk == 2 * kGemmDepth);
  const int first = static_cast<int>(threadIdx.x) / kPairs * kPairRows;
  float4 sum = shared.pair[threadIdx.x];
#pragma unroll 4
  for (int i = 0; i < kPairRows; ++i) {
    const std::uint32_t both = pair(first + i);
    sum.x += low_bf16(both);
    sum.y += high_bf16(both);
  }
  if (step % 2 == 1 || step + 1 == steps) sum = make_float4(0, 0, sum.z + sum.x, sum.w + sum.y);
  shared.pair[threadIdx.x] = sum;
}

// The same of a step whose tile of dy is in shared memory.
__device__ __forceinline__ void add_stage(Shared& shared, int step, int steps) {
  const int column = static_cast<int>(threadIdx.x) % kPairs * 2, in_half = column % kTileColumns;
  bf16* const half =
      shared.gemm.stage[step % kGemmStages].a + column / kTileColumns * (kGemmDepth * kTileColumns);
  add_step(shared, step, steps, [&](int row) {
    return *reinterpret_cast<const std::uint32_t*>(tile_chunk(half, row, in_half / kChunk) +
                                                   in_half % kChunk);
  });
}

// The same of all rows, from global memory.
__device__ void add_rows(const WeightGradientItem& a, Shared& shared, int w, int n) {
  const int column = n + static_cast<int>(threadIdx.x) % kPairs * 2, live = a.rows.live[w];
  const bf16* const dy = row_of<bf16>(a.dy, a.rows.row0[w], a.N) + column;
  const int steps = (live + kGemmDepth - 1) / kGemmDepth;
  for (int step = 0; step < steps; ++step) {
    add_step(shared, step, steps, [&](int row) {
      const int r = step * kGemmDepth + row;
      if (r >= live || column >= a.N) return 0u;
      return *reinterpret_cast<const std::uint32_t*>(dy + static_cast<std::int64_t>(r) * a.N);
    });
  }
}

// The sums of all threads, to db.
__device__ void put_bias(const WeightGradientItem& a, const Shared& shared, int w, int n) {
  __syncthreads();
  const int c = static_cast<int>(threadIdx.x);
  if (c >= kGemmTile || n + c >= a.N) return;
  float sum = 0;
  for (int i = c / 2; i < kGemmThreads; i += kPairs) sum += c % 2 == 0 ? shared.pair[i].z : shared.pair[i].w;
  float* const to = of_entry(a.db, a.rows, w) + n + c;
  *to = a.db.mode[w] == GradMode::kAdd ? *to + sum : sum;
}

// dw of a tile at n, k; `bias`: and the bias's sums of its rows.
__device__ void weight_tile(const WeightGradientItem& a, Shared& shared, int w, int n, int k, bool bias) {
  const auto put = [&](const float* sums, bool add) {
    float* const dw = of_entry(a.dw, a.rows, w) + static_cast<std::int64_t>(n) * a.K + k;
    put_tile(dw, sums, a.K, min(kGemmTile, a.N - n), min(kGemmTile, a.K - k), add);
  };
  if (a.rows.live[w] == 0) put(nullptr, false);
  for (int done = 0; done < a.rows.live[w]; done += kSumRows) {
    const bf16* const dy = row_of<bf16>(a.dy, a.rows.row0[w] + done, a.N) + n;
    const bf16* const x = row_of<bf16>(a.x, a.rows.row0[w] + done, a.K) + k;
    const int depth = min(kSumRows, a.rows.live[w] - done), steps = (depth + kGemmDepth - 1) / kGemmDepth;
    const int rows = min(kGemmTile, a.N - n), columns = min(kGemmTile, a.K - k);
    // Of a whole tile the last step alone may be ragged: it is filled up with zeros and multiplied like the
    // rest.
    const auto bring = [&]<bool kWhole>(GemmStage& stage, int step) {
      const int row = step * kGemmDepth;
      const bf16* const dy_rows = dy + static_cast<std::int64_t>(row) * a.N;
      const bf16* const x_rows = x + static_cast<std::int64_t>(row) * a.K;
      if (kWhole && depth - row >= kGemmDepth) {
        bring_tile<Operand::kAcrossSum, true>(stage.a, dy_rows, a.N, rows, depth - row);
        bring_tile<Operand::kAcrossSum, true>(stage.b, x_rows, a.K, columns, depth - row);
      } else {
        bring_tile<Operand::kAcrossSum, false>(stage.a, dy_rows, a.N, rows, depth - row);
        bring_tile<Operand::kAcrossSum, false>(stage.b, x_rows, a.K, columns, depth - row);
      }
      // While this step's copies are on their way, that one is about to be multiplied.
      if (bias && step >= kAhead) add_stage(shared, step - kAhead, steps);
    };
    WarpSums sums;
    sums.clear();
    if (rows == kGemmTile && columns == kGemmTile) {
      multiply_stages<Operand::kAcrossSum, Operand::kAcrossSum, true>(shared.gemm, sums, steps, rows, columns,
                                                                      depth, bring);
    } else {
      multiply_stages<Operand::kAcrossSum, Operand::kAcrossSum, false>(shared.gemm, sums, steps, rows,
                                                                       columns, depth, bring);
    }
    if (bias) {
      for (int step = max(0, steps - kAhead); step < steps; ++step) add_stage(shared, step, steps);
      __syncthreads();
    }
    sums.store(shared.gemm.sums);
    __syncthreads();
    put(shared.gemm.sums, done > 0 || a.dw.mode[w] == GradMode::kAdd);
    __syncthreads();
  }
}

// Blocks of an item, for each entry and each kGemmTile of N: the tiles along K, or one for the bias.
__host__ __device__ constexpr int blocks_along(const WeightGradientItem& a) {
  return a.dw.base == nullptr ? 1 : tiles(a.K);
}

__device__ void item_block(const WeightGradientItem& a, Shared& shared, std::int64_t block) {
  const int along = blocks_along(a), n_tiles = tiles(a.N), k = static_cast<int>(block % along) * kGemmTile;
  const int w = static_cast<int>(block / (std::int64_t{n_tiles} * along));
  const int n = static_cast<int>(block / along % n_tiles) * kGemmTile;
  const bool bias = k == 0 && writes(a.db, a.rows, w), weight = writes(a.dw, a.rows, w);
  if (bias) shared.pair[threadIdx.x] = make_float4(0, 0, 0, 0);
  if (weight) {
    weight_tile(a, shared, w, n, k, bias);
  } else if (bias) {
    add_rows(a, shared, w, n);
  }
  if (bias) put_bias(a, shared, w, n);
}

// One plane of one entry, kGemmThreads columns.
__device__ void norm_columns(const NormGradientItem& a, std::int64_t block) {
  const int column_blocks = (a.C + kGemmThreads - 1) / kGemmThreads;
  const int w = static_cast<int>(block / (3 * column_blocks)),
            plane = static_cast<int>(block / column_blocks % 3);
  const int c = static_cast<int>(block % column_blocks) * kGemmThreads + static_cast<int>(threadIdx.x);
  const Grad& g = plane == 0 ? a.dgamma : plane == 1 ? a.dbeta : a.dbias;
  if (c >= a.C || !writes(g, a.rows, w)) return;
  const std::int64_t first = a.rows.row0[w] / kRowChunk;
  const int chunks = (a.rows.live[w] + kRowChunk - 1) / kRowChunk;
  float sum = 0;
  for (int i = 0; i < chunks; ++i) sum += a.partial[((first + i) * 3 + plane) * a.C + c];
  float* const to = of_entry(g, a.rows, w) + c;
  *to = g.mode[w] == GradMode::kAdd ? *to + sum : sum;
}

__global__ void __launch_bounds__(kGemmThreads, 2) linear_backward_weight_group_kernel(Group group) {
  SHOAL_DYNAMIC_SHARED(Shared, shared);
  const std::int64_t block = blockIdx.x;
  int job = 0;
  while (block >= group.first[job + 1]) ++job;
  if (job < group.args.items) {
    item_block(group.args.item[job], shared, block - group.first[job]);
  } else {
    norm_columns(group.args.norm[job - group.args.items], block - group.first[job]);
  }
}

std::int64_t blocks_of(const WeightGradientItem& a) {
  return std::int64_t{a.rows.W} * tiles(a.N) * blocks_along(a);
}
std::int64_t blocks_of(const NormGradientItem& a) {
  return std::int64_t{a.rows.W} * 3 * ((a.C + kGemmThreads - 1) / kGemmThreads);
}

}  // namespace

void linear_backward_weight_group(const LinearBackwardWeightGroup& a, Stream stream) {
  check(a);
  require_bf16("linear_backward_weight_group", a.dtype);
  Group group{.args = a, .first = {}};
  int job = 0;
  for (int i = 0; i < a.items; ++i, ++job) group.first[job + 1] = group.first[job] + blocks_of(a.item[i]);
  for (int i = 0; i < a.norms; ++i, ++job) group.first[job + 1] = group.first[job] + blocks_of(a.norm[i]);
  if (group.first[job] == 0) return;
  launch<linear_backward_weight_group_kernel>({.name = "linear_backward_weight_group",
                                               .grid = dim3(static_cast<unsigned>(group.first[job])),
                                               .block = dim3(kGemmThreads),
                                               .shared = sizeof(Shared),
                                               .stream = stream},
                                              group);
}

}  // namespace shoal::SHOAL_TARGET
