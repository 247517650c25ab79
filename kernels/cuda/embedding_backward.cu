// embedding_backward: the gradients of the three tables, each sum with one owner, without atomics.
#include "kernels/cuda/parts/refuse.h"
#include "kernels/cuda/parts/rows.h"
#include "kernels/cuda/parts/swizzle.h"
#include "kernels/cuda/parts/vector8.h"
#include "kernels/cuda/parts/warp.h"
#include "kernels/embedding_layernorm.h"

namespace shoal::SHOAL_TARGET {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / kWarp;
constexpr int kWarpColumns = kWarp * kChunk;  // that a warp sums at once, eight a lane
constexpr int kTypeColumns = 64, kTypeVectors = kTypeColumns / kChunk, kTypeGroups = kThreads / kTypeVectors;

__device__ __forceinline__ void add8(float (&sum)[8], const bf16* from) {
  float v[8];
  load8(v, from);
#pragma unroll
  for (int j = 0; j < 8; ++j) sum[j] += v[j];
}
__device__ __forceinline__ void add8(float (&sum)[8], const float (&v)[8]) {
#pragma unroll
  for (int j = 0; j < 8; ++j) sum[j] += v[j];
}
// Eight columns: set, or added to.
__device__ __forceinline__ void put8(float* to, const float (&v)[8], bool add) {
  float before[8] = {};
  if (add) load8_f32(before, to);
  float4* const at = reinterpret_cast<float4*>(to);
  at[0] = make_float4(before[0] + v[0], before[1] + v[1], before[2] + v[2], before[3] + v[3]);
  at[1] = make_float4(before[4] + v[4], before[5] + v[5], before[6] + v[6], before[7] + v[7]);
}

// A warp makes kWarpColumns columns of the row of one id: who has the id's first chunk has them all.
__global__ void __launch_bounds__(kThreads) embedding_backward_kernel_word(EmbeddingBackward a) {
  const RunOfRows run = run_of_rows(a.rows, static_cast<std::int64_t>(blockIdx.x) * kWarps, kWarps);
  const int w = run.w, lane = static_cast<int>(threadIdx.x) % kWarp,
            c = run.own + static_cast<int>(threadIdx.x) / kWarp;
  if (run.tail == 0 || a.dword.mode[w] == GradMode::kSkip || c >= a.chunk_count[w]) return;
  const std::int64_t row0 = a.rows.row0[w];
  const IdChunk* const chunks = a.chunks + row0;
  const std::int32_t id = chunks[c].id;
  if (c > 0 && chunks[c - 1].id == id) return;
  if (blockIdx.y == 0 && a.touched != nullptr) {
    std::uint8_t* const marks = a.touched + a.rows.slot[w] * (a.dword.stride / kTouchRun);
    const std::int64_t begin = static_cast<std::int64_t>(id) * a.C, last = (begin + a.C - 1) / kTouchRun;
    std::int64_t mark = begin / kTouchRun;
    // Ids ascend: a mark that the last id before this one shares is set there, so each has one owner.
    if (c > 0)
      mark = max(mark, (static_cast<std::int64_t>(chunks[c - 1].id) * a.C + a.C - 1) / kTouchRun + 1);
    for (mark += lane; mark <= last; mark += kWarp) marks[mark] = 1;
  }
  const int column = static_cast<int>(blockIdx.y) * kWarpColumns + lane * kChunk;
  if (column >= a.C) return;
  const bf16* const dz = row_of<bf16>(a.dz, row0, a.C) + column;
  float total[8] = {};
  for (int k = c; k < a.chunk_count[w] && chunks[k].id == id; ++k) {
    float sum[8] = {};
#pragma unroll 4
    for (int i = chunks[k].begin; i < chunks[k].end; ++i)
      add8(sum, dz + static_cast<std::int64_t>(a.order[row0 + i]) * a.C);
    add8(total, sum);
  }
  put8(of_entry(a.dword, a.rows, w) + static_cast<std::int64_t>(id) * a.C + column, total, true);
}

// A warp makes kWarpColumns columns of one position: its sequences ascending.
__global__ void __launch_bounds__(kThreads) embedding_backward_kernel_position(EmbeddingBackward a) {
  const int w = static_cast<int>(blockIdx.z),
            p = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kWarp;
  const int column =
      static_cast<int>(blockIdx.y) * kWarpColumns + static_cast<int>(threadIdx.x) % kWarp * kChunk;
  if (p >= a.P || column >= a.C || !writes(a.dposition, a.rows, w)) return;
  const std::int32_t* const cu = a.seqs.cu + static_cast<std::int64_t>(w) * (a.seqs.B + 1);
  const bf16* const dz = row_of<bf16>(a.dz, a.rows.row0[w], a.C) + column;
  float total[8] = {};
  bool any = false;
  if (a.rows.live[w] > 0) {
    for (int b = 0; b < a.seqs.count[w]; ++b) {
      const std::int32_t begin = cu[b];
      if (cu[b + 1] - begin <= p) continue;
      add8(total, dz + static_cast<std::int64_t>(begin + p) * a.C);
      any = true;
    }
  }
  const bool add = a.dposition.mode[w] == GradMode::kAdd;
  if (add && !any) return;
  put8(of_entry(a.dposition, a.rows, w) + static_cast<std::int64_t>(p) * a.C + column, total, add);
}

struct TypeSums {
  float of_group[kTypeGroups][kTypeColumns];
};

// A block makes kTypeColumns columns of every type: groups of threads take rows in turn, then the groups in
// order.
__global__ void __launch_bounds__(kThreads) embedding_backward_kernel_type(EmbeddingBackward a) {
  SHOAL_SHARED(TypeSums, shared);
  const int w = static_cast<int>(blockIdx.y), thread = static_cast<int>(threadIdx.x);
  if (!writes(a.dtype_table, a.rows, w)) return;
  const int vector = thread % kTypeVectors, group = thread / kTypeVectors, live = a.rows.live[w];
  const int first_column = static_cast<int>(blockIdx.x) * kTypeColumns,
            column = first_column + vector * kChunk;
  const std::int64_t row0 = a.rows.row0[w];
  for (int t = 0; t < a.T; ++t) {
    float total[8] = {};
    for (int first = 0; first < live && column < a.C; first += kRowChunk) {
      float sum[8] = {};
#pragma unroll
      for (int i = 0; i < kRowChunk; i += kTypeGroups) {
        const int row = first + i + group;
        if (row < live && a.types[row0 + row] == t) add8(sum, row_of<bf16>(a.dz, row0 + row, a.C) + column);
      }
      add8(total, sum);
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) shared.of_group[group][vector * kChunk + j] = total[j];
    __syncthreads();
    if (thread < kTypeColumns && first_column + thread < a.C) {
      float sum = 0;
      for (int g = 0; g < kTypeGroups; ++g) sum += shared.of_group[g][thread];
      float* const to =
          of_entry(a.dtype_table, a.rows, w) + static_cast<std::int64_t>(t) * a.C + first_column + thread;
      *to = a.dtype_table.mode[w] == GradMode::kAdd ? *to + sum : sum;
    }
    __syncthreads();
  }
}

unsigned blocks(std::int64_t n, int of) {
  return static_cast<unsigned>((n + of - 1) / of);
}

}  // namespace

void embedding_backward(const EmbeddingBackward& a, Stream stream) {
  check(a);
  require_bf16("embedding_backward", a.dtype);
  const unsigned column_blocks = blocks(a.C, kWarpColumns), W = static_cast<unsigned>(a.rows.W);
  if (a.dword.base != nullptr) {
    launch<embedding_backward_kernel_word>({.name = "embedding_backward",
                                            .grid = dim3(blocks(a.rows.rows, kWarps), column_blocks),
                                            .block = dim3(kThreads),
                                            .stream = stream},
                                           a);
  }
  if (a.dposition.base != nullptr) {
    launch<embedding_backward_kernel_position>({.name = "embedding_backward",
                                                .grid = dim3(blocks(a.P, kWarps), column_blocks, W),
                                                .block = dim3(kThreads),
                                                .stream = stream},
                                               a);
  }
  if (a.dtype_table.base != nullptr) {
    launch<embedding_backward_kernel_type>({.name = "embedding_backward",
                                            .grid = dim3(blocks(a.C, kTypeColumns), W),
                                            .block = dim3(kThreads),
                                            .stream = stream},
                                           a);
  }
}

}  // namespace shoal::SHOAL_TARGET
