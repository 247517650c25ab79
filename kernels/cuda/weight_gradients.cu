// linear_backward_weight_group: one launch for all weight gradients, bias gradients and LayerNorm sums of a
// call. A block makes a 128 x 128 tile of one entry's dw (parts/tiles.h; the rows of the activations are the
// summed dimension), or the bias's sums of 128 columns, or the sums of some columns of one LayerNorm. The
// tiles that share a stripe of dy, and its bias, stand side by side: they find it in the cache.
#include "kernels/cuda/parts/refuse.h"
#include "kernels/cuda/parts/rows.h"
#include "kernels/cuda/parts/tiles.h"
#include "kernels/cuda/parts/vector8.h"
#include "kernels/weight_gradients.h"

namespace shoal::SHOAL_TARGET {
namespace {

constexpr int kSumRows = 4096;                       // rows of one accumulator before it meets f32 memory
constexpr int kVectors = kGemmTile / kChunk;         // of a row of a tile
constexpr int kRowGroups = kGemmThreads / kVectors;  // of rows that a block takes at once
constexpr int kJobs = LinearBackwardWeightGroup::kMaxItems + LinearBackwardWeightGroup::kMaxNorms;

struct Group {
  LinearBackwardWeightGroup args;
  // Blocks of items, then of norms: job j has blocks first[j] .. first[j + 1].
  std::int64_t first[kJobs + 1];
};

union Shared {
  GemmShared gemm;
  float columns[kRowGroups][kGemmTile];  // bias: sums of groups of rows
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

// db of kGemmTile columns: each thread eight columns of some rows, then the groups of rows in order.
__device__ void bias_columns(const WeightGradientItem& a, Shared& shared, int w, int column) {
  const int vector = static_cast<int>(threadIdx.x) % kVectors,
            group = static_cast<int>(threadIdx.x) / kVectors;
  const int live = a.rows.live[w], columns = min(kGemmTile, a.N - column);
  float total[8] = {};
  if (vector * kChunk < columns) {
    const bf16* const dy = row_of<bf16>(a.dy, a.rows.row0[w], a.N) + column + vector * kChunk;
    for (int first = 0; first < live; first += kRowChunk) {
      float sum[8] = {};
#pragma unroll 4
      for (int row = first + group; row < min(first + kRowChunk, live); row += kRowGroups) {
        float v[8];
        load8(v, dy + static_cast<std::int64_t>(row) * a.N);
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[j] += v[j];
      }
#pragma unroll
      for (int j = 0; j < 8; ++j) total[j] += sum[j];
    }
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) shared.columns[group][vector * kChunk + j] = total[j];
  __syncthreads();
  const int c = static_cast<int>(threadIdx.x);
  if (c >= columns) return;
  float sum = 0;
  for (int g = 0; g < kRowGroups; ++g) sum += shared.columns[g][c];
  float* const to = of_entry(a.db, a.rows, w) + column + c;
  *to = a.db.mode[w] == GradMode::kAdd ? *to + sum : sum;
}

// Blocks of an item: for each entry and each kGemmTile of N one for the bias, then the tiles along K.
__host__ __device__ constexpr int blocks_along(const WeightGradientItem& a) {
  return 1 + (a.dw.base == nullptr ? 0 : tiles(a.K));
}

__device__ void weight_tile(const WeightGradientItem& a, Shared& shared, std::int64_t block) {
  const int along = blocks_along(a), n_tiles = tiles(a.N), in_row = static_cast<int>(block % along);
  const int w = static_cast<int>(block / (std::int64_t{n_tiles} * along));
  const int n = static_cast<int>(block / along % n_tiles) * kGemmTile;
  if (in_row == 0) {
    if (writes(a.db, a.rows, w)) bias_columns(a, shared, w, n);
    return;
  }
  if (!writes(a.dw, a.rows, w)) return;
  const int k = (in_row - 1) * kGemmTile;
  const int live = a.rows.live[w], rows = min(kGemmTile, a.N - n), columns = min(kGemmTile, a.K - k);
  float* const dw = of_entry(a.dw, a.rows, w) + static_cast<std::int64_t>(n) * a.K + k;
  bool add = a.dw.mode[w] == GradMode::kAdd;
  if (live == 0) put_tile(dw, nullptr, a.K, rows, columns, false);
  const bf16* dy = row_of<bf16>(a.dy, a.rows.row0[w], a.N) + n;
  const bf16* x = row_of<bf16>(a.x, a.rows.row0[w], a.K) + k;
  for (int left = live; left > 0; left -= kSumRows, add = true) {
    const int depth = min(kSumRows, left), steps = (depth + kGemmDepth - 1) / kGemmDepth;
    const auto bring = [&]<bool kWhole>(GemmStage& stage, int step) {
      const int row = step * kGemmDepth;
      bring_tile<Operand::kAcrossSum, kWhole>(stage.a, dy + static_cast<std::int64_t>(row) * a.N, a.N, rows,
                                              depth - row);
      bring_tile<Operand::kAcrossSum, kWhole>(stage.b, x + static_cast<std::int64_t>(row) * a.K, a.K, columns,
                                              depth - row);
    };
    WarpSums sums;
    sums.clear();
    if (rows == kGemmTile && columns == kGemmTile && depth % kGemmDepth == 0) {
      multiply_stages<Operand::kAcrossSum, Operand::kAcrossSum, true>(shared.gemm, sums, steps, rows, columns,
                                                                      depth, bring);
    } else {
      multiply_stages<Operand::kAcrossSum, Operand::kAcrossSum, false>(shared.gemm, sums, steps, rows,
                                                                       columns, depth, bring);
    }
    sums.store(shared.gemm.sums);
    __syncthreads();
    put_tile(dw, shared.gemm.sums, a.K, rows, columns, add);
    __syncthreads();
    dy += static_cast<std::int64_t>(kSumRows) * a.N;
    x += static_cast<std::int64_t>(kSumRows) * a.K;
  }
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
    weight_tile(group.args.item[job], shared, block - group.first[job]);
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
