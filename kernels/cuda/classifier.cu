// classifier, forward and backward: few labels beside many columns, so plain f32 sums, not tensor cores. A
// tile at an edge repeats its last row or label and drops what it has twice: loads without branches between
// them.
#include "kernels/classifier.h"
#include "kernels/cuda/parts/refuse.h"
#include "kernels/cuda/parts/rows.h"
#include "kernels/cuda/parts/swizzle.h"
#include "kernels/cuda/parts/vector8.h"
#include "kernels/cuda/parts/warp.h"

namespace shoal::SHOAL_TARGET {
namespace {

constexpr int kThreads = 256;
constexpr int kTile = 4;  // rows, or labels, of a thread at once
constexpr int kWarps = kThreads / kWarp;
constexpr int kForwardRows = kWarps * kTile;
constexpr int kWarpColumns = kWarp * kChunk;  // eight a lane

// A warp makes the logits of four rows, label after label: each lane every 32nd vector of k, then the lanes
// in a tree.
__global__ void __launch_bounds__(kThreads) classifier_forward_kernel(ClassifierForward a) {
  const RunOfRows run =
      run_of_rows(a.rows, static_cast<std::int64_t>(blockIdx.x) * kForwardRows, kForwardRows);
  const int lane = static_cast<int>(threadIdx.x) % kWarp,
            first = static_cast<int>(threadIdx.x) / kWarp * kTile;
  if (first >= run.tail) return;
  const int slot = a.rows.slot[run.w], n = a.n[run.w];
  SHOAL_DEVICE_CHECK(n <= a.ld);
  const bf16 *const weights = of_slot<bf16>(a.w, slot), *const bias = of_slot<bf16>(a.b, slot);
  for (int label = 0; label < n && first < run.live; ++label) {
    float sum[kTile] = {};
    for (int k = lane * kChunk; k < a.C; k += kWarp * kChunk) {
      float w[8];
      load8(w, weights + static_cast<std::int64_t>(label) * a.C + k);
#pragma unroll
      for (int i = 0; i < kTile; ++i) {
        float x[8];
        load8(x, row_of<bf16>(a.x, run.first + min(first + i, run.live - 1), a.C) + k);
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i] = fmaf(x[j], w[j], sum[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < kTile; ++i) {
      sum[i] = warp_sum(sum[i]);
      if (lane == 0 && first + i < run.live) {
        a.logits[(run.first + first + i) * a.ld + label] = sum[i] + to_f32(bias[label]);
      }
    }
  }
  for (int i = 0; i < kTile; ++i) {
    const int own = first + i < run.live ? n : 0;
    for (int k = own + lane; k < a.ld; k += kWarp) a.logits[(run.first + first + i) * a.ld + k] = 0;
  }
}

// dx of four rows in eight columns a thread: labels ascending.
__device__ void input_block(const ClassifierBackward& a, std::int64_t block) {
  const RunOfRows run = run_of_rows(a.rows, block * kForwardRows, kForwardRows);
  if (run.tail == 0) return;
  const int n = a.n[run.w], vectors = a.C / kChunk;
  const bf16* const weights = of_slot<bf16>(a.w, a.rows.slot[run.w]);
  for (int i = static_cast<int>(threadIdx.x); i < run.tail / kTile * vectors; i += kThreads) {
    const int first = i / vectors * kTile, column = i % vectors * kChunk;
    float dx[kTile][8] = {};
#pragma unroll 2
    for (int k = 0; k < n && first < run.live; ++k) {
      float w[8];
      load8(w, weights + static_cast<std::int64_t>(k) * a.C + column);
#pragma unroll
      for (int r = 0; r < kTile; ++r) {
        const float d = a.dlogits[(run.first + min(first + r, run.live - 1)) * a.ld + k];
#pragma unroll
        for (int j = 0; j < 8; ++j) dx[r][j] = fmaf(d, w[j], dx[r][j]);
      }
    }
#pragma unroll
    for (int r = 0; r < kTile; ++r) {
      bf16* const to = row_of<bf16>(a.dx, run.first + first + r, a.C) + column;
      if (first + r < run.live) {
        store8(to, dx[r]);
      } else {
        store8_zeros(to);
      }
    }
  }
}

// What the warps of a block have summed, each over one chunk of rows.
struct WeightSums {
  float dw[kWarps][kTile][kWarpColumns];
  float db[kWarps][kTile];
};

// The sums over `rows` rows of four labels, eight columns a lane, rows ascending.
__device__ __forceinline__ void sum_chunk(float (&dw)[kTile][kChunk], float (&db)[kTile], const bf16* x,
                                          int C, const float* dlogits, int ld, int labels, int rows) {
#pragma unroll 4
  for (int row = 0; row < rows; ++row) {
    float v[kChunk];
    load8(v, x + static_cast<std::int64_t>(row) * C);
#pragma unroll
    for (int k = 0; k < kTile; ++k) {
      const float d = dlogits[static_cast<std::int64_t>(row) * ld + min(k, labels - 1)];
      db[k] += d;
#pragma unroll
      for (int j = 0; j < kChunk; ++j) dw[k][j] = fmaf(d, v[j], dw[k][j]);
    }
  }
}

// dw of four labels in kWarpColumns columns: the warps take the entry's chunks of rows in turn, so that a job
// of many rows is not one walk, and each column's thread adds their sums to memory in the order of chunks.
// Who has the first columns makes db too.
__device__ void weight_block(const ClassifierBackward& a, int w, int block) {
  SHOAL_SHARED(WeightSums, shared);
  const int column_blocks = (a.C + kWarpColumns - 1) / kWarpColumns;
  const int first_label = block / column_blocks * kTile, labels = a.n[w] - first_label;
  const int first_column = block % column_blocks * kWarpColumns;
  const bool with_dw = writes(a.dw, a.rows, w), with_db = writes(a.db, a.rows, w) && first_column == 0;
  if (labels <= 0 || (!with_dw && !with_db)) return;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / kWarp, lane = thread % kWarp;
  const int live = a.rows.live[w], column = first_column + lane * kChunk;
  // A thread's own: one column of dw; the first kTile threads also a label of db.
  const bool owns_dw = with_dw && first_column + thread < a.C,
             owns_db = with_db && thread < min(labels, kTile);
  float* const dw = owns_dw ? of_entry(a.dw, a.rows, w) + static_cast<std::int64_t>(first_label) * a.C +
                                  first_column + thread
                            : nullptr;
  float* const db = owns_db ? of_entry(a.db, a.rows, w) + first_label + thread : nullptr;
  float dw_sum[kTile] = {}, db_sum = owns_db && a.db.mode[w] == GradMode::kAdd ? *db : 0.0f;
  if (owns_dw && a.dw.mode[w] == GradMode::kAdd) {
#pragma unroll
    for (int k = 0; k < kTile; ++k) {
      if (k < labels) dw_sum[k] = dw[static_cast<std::int64_t>(k) * a.C];
    }
  }
  for (int first = 0; first < live; first += kWarps * kRowChunk) {
    const int own = first + warp * kRowChunk;
    if (own < live && column < a.C) {
      float chunk[kTile][kChunk] = {}, bias[kTile] = {};
      const std::int64_t at = a.rows.row0[w] + own;
      sum_chunk(chunk, bias, row_of<bf16>(a.x, at, a.C) + column, a.C, a.dlogits + at * a.ld + first_label,
                a.ld, labels, min(kRowChunk, live - own));
#pragma unroll
      for (int k = 0; k < kTile; ++k) {
        float4* const to = reinterpret_cast<float4*>(&shared.dw[warp][k][lane * kChunk]);
        to[0] = make_float4(chunk[k][0], chunk[k][1], chunk[k][2], chunk[k][3]);
        to[1] = make_float4(chunk[k][4], chunk[k][5], chunk[k][6], chunk[k][7]);
        if (lane == 0) shared.db[warp][k] = bias[k];
      }
    }
    __syncthreads();
    for (int chunk = 0; chunk < kWarps && first + chunk * kRowChunk < live; ++chunk) {
#pragma unroll
      for (int k = 0; k < kTile; ++k) {
        if (owns_dw) dw_sum[k] += shared.dw[chunk][k][thread];
      }
      if (owns_db) db_sum += shared.db[chunk][thread];
    }
    __syncthreads();
  }
#pragma unroll
  for (int k = 0; k < kTile; ++k) {
    if (owns_dw && k < labels) dw[static_cast<std::int64_t>(k) * a.C] = dw_sum[k];
  }
  if (owns_db) *db = db_sum;
}

// Blocks of rows for dx, then of each entry's weights.
__global__ void __launch_bounds__(kThreads)
    classifier_backward_kernel(ClassifierBackward a, int blocks_of_entry) {
  const std::int64_t row_blocks = a.rows.rows / kForwardRows, block = blockIdx.x;
  if (block < row_blocks) {
    input_block(a, block);
  } else {
    weight_block(a, static_cast<int>((block - row_blocks) / blocks_of_entry),
                 static_cast<int>((block - row_blocks) % blocks_of_entry));
  }
}

}  // namespace

void classifier_forward(const ClassifierForward& a, Stream stream) {
  check(a);
  require_bf16("classifier_forward", a.dtype);
  launch<classifier_forward_kernel>({.name = "classifier_forward",
                                     .grid = dim3(static_cast<unsigned>(a.rows.rows / kForwardRows)),
                                     .block = dim3(kThreads),
                                     .stream = stream},
                                    a);
}

void classifier_backward(const ClassifierBackward& a, Stream stream) {
  check(a);
  require_bf16("classifier_backward", a.dtype);
  const bool weights = a.dw.base != nullptr || a.db.base != nullptr;
  const int blocks_of_entry =
      weights ? (a.ld + kTile - 1) / kTile * ((a.C + kWarpColumns - 1) / kWarpColumns) : 0;
  const std::int64_t blocks = a.rows.rows / kForwardRows + std::int64_t{a.rows.W} * blocks_of_entry;
  launch<classifier_backward_kernel>({.name = "classifier_backward",
                                      .grid = dim3(static_cast<unsigned>(blocks)),
                                      .block = dim3(kThreads),
                                      .stream = stream},
                                     a, blocks_of_entry);
}

}  // namespace shoal::SHOAL_TARGET
