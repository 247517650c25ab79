// classifier, forward and backward: few labels beside many columns, so plain f32 sums, not tensor cores.
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
constexpr int kForwardRows = kThreads / kWarp * kTile;

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
        if (first + i >= run.live) continue;
        float x[8];
        load8(x, row_of<bf16>(a.x, run.first + first + i, a.C) + k);
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
    for (int k = 0; k < n && first < run.live; ++k) {
      float w[8];
      load8(w, weights + static_cast<std::int64_t>(k) * a.C + column);
#pragma unroll
      for (int r = 0; r < kTile; ++r) {
        if (first + r >= run.live) continue;
        const float d = a.dlogits[(run.first + first + r) * a.ld + k];
#pragma unroll
        for (int j = 0; j < 8; ++j) dx[r][j] = fmaf(d, w[j], dx[r][j]);
      }
    }
#pragma unroll
    for (int r = 0; r < kTile; ++r) store8(row_of<bf16>(a.dx, run.first + first + r, a.C) + column, dx[r]);
  }
}

// Eight columns: set, or added to.
__device__ __forceinline__ void put8(float* to, const float (&v)[8], bool add) {
  float before[8] = {};
  if (add) load8_f32(before, to);
  float4* const at = reinterpret_cast<float4*>(to);
  at[0] = make_float4(before[0] + v[0], before[1] + v[1], before[2] + v[2], before[3] + v[3]);
  at[1] = make_float4(before[4] + v[4], before[5] + v[5], before[6] + v[6], before[7] + v[7]);
}

// dw of four labels in eight columns a thread, rows ascending; who has the first columns makes db too.
__device__ void weight_block(const ClassifierBackward& a, int w, std::int64_t block) {
  const int n = a.n[w], vectors = a.C / kChunk;
  const std::int64_t item = block * kThreads + threadIdx.x;
  const int label = static_cast<int>(item / vectors) * kTile,
            column = static_cast<int>(item % vectors) * kChunk;
  const bool with_dw = writes(a.dw, a.rows, w), with_db = writes(a.db, a.rows, w) && column == 0;
  if (label >= n || (!with_dw && !with_db)) return;
  const int live = a.rows.live[w];
  const bf16* const x = row_of<bf16>(a.x, a.rows.row0[w], a.C) + column;
  const float* const dlogits = a.dlogits + static_cast<std::int64_t>(a.rows.row0[w]) * a.ld + label;
  float dw[kTile][8] = {}, db[kTile] = {};
  for (int first = 0; first < live; first += kRowChunk) {
    float chunk[kTile][8] = {}, bias[kTile] = {};
    for (int row = first; row < min(first + kRowChunk, live); ++row) {
      float v[8];
      load8(v, x + static_cast<std::int64_t>(row) * a.C);
#pragma unroll
      for (int k = 0; k < kTile; ++k) {
        const float d = label + k < n ? dlogits[static_cast<std::int64_t>(row) * a.ld + k] : 0.0f;
        bias[k] += d;
#pragma unroll
        for (int j = 0; j < 8; ++j) chunk[k][j] = fmaf(d, v[j], chunk[k][j]);
      }
    }
#pragma unroll
    for (int k = 0; k < kTile; ++k) {
      db[k] += bias[k];
#pragma unroll
      for (int j = 0; j < 8; ++j) dw[k][j] += chunk[k][j];
    }
  }
#pragma unroll
  for (int k = 0; k < kTile; ++k) {
    if (label + k >= n) continue;
    if (with_dw) {
      put8(of_entry(a.dw, a.rows, w) + static_cast<std::int64_t>(label + k) * a.C + column, dw[k],
           a.dw.mode[w] == GradMode::kAdd);
    }
    if (with_db) {
      float* const to = of_entry(a.db, a.rows, w) + label + k;
      *to = a.db.mode[w] == GradMode::kAdd ? *to + db[k] : db[k];
    }
  }
}

// Blocks of rows for dx, then of each entry's weights.
__global__ void __launch_bounds__(kThreads)
    classifier_backward_kernel(ClassifierBackward a, int blocks_of_entry) {
  const std::int64_t row_blocks = a.rows.rows / kForwardRows, block = blockIdx.x;
  if (block < row_blocks) {
    input_block(a, block);
  } else {
    weight_block(a, static_cast<int>((block - row_blocks) / blocks_of_entry),
                 (block - row_blocks) % blocks_of_entry);
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
  const std::int64_t items = std::int64_t{(a.ld + kTile - 1) / kTile} * (a.C / kChunk);
  const int blocks_of_entry = weights ? static_cast<int>((items + kThreads - 1) / kThreads) : 0;
  const std::int64_t blocks = a.rows.rows / kForwardRows + std::int64_t{a.rows.W} * blocks_of_entry;
  launch<classifier_backward_kernel>({.name = "classifier_backward",
                                      .grid = dim3(static_cast<unsigned>(blocks)),
                                      .block = dim3(kThreads),
                                      .stream = stream},
                                     a, blocks_of_entry);
}

}  // namespace shoal::SHOAL_TARGET
