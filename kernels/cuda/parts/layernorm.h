// What the LayerNorm kernels share: which lanes hold which columns of a row, sums over a row, and the sums
// over rows that a backward leaves in `partial`.
//
// A row is held in registers, in chunks of eight columns a lane: by one warp up to 1,024 columns, by two or
// four warps beyond. The form follows C alone.
#pragma once

#include "kernels/cuda/parts/dropout.h"
#include "kernels/cuda/parts/rows.h"
#include "kernels/cuda/parts/swizzle.h"
#include "kernels/cuda/parts/vector8.h"
#include "kernels/cuda/parts/warp.h"

namespace shoal::SHOAL_TARGET {

constexpr int kNormThreads = 256;
constexpr int kNormWarps = kNormThreads / kWarp;
constexpr int kMaxHeldColumns = 1024;  // by one warp

template <int kChunks_, int kWarpsOfRow_>
struct RowForm {
  static constexpr int kChunks = kChunks_;                                 // of a lane
  static constexpr int kWarpsOfRow = kWarpsOfRow_;                         // that hold one row
  static constexpr int kRowsAtOnce = kNormWarps / kWarpsOfRow;             // of a block
  static constexpr int kColumns = kChunks * kWarpsOfRow * kWarp * kChunk;  // at most

  static __device__ int row() { return static_cast<int>(threadIdx.x) / (kWarp * kWarpsOfRow); }
  // First column of the lane's i-th chunk.
  static __device__ int column(int i) {
    return (i * kWarpsOfRow * kWarp + static_cast<int>(threadIdx.x) % (kWarp * kWarpsOfRow)) * kChunk;
  }
};

struct RowSums {
  float of_warp[kNormWarps];
};

// The sum of `value` over the threads of one row, the same bits in all of them. All threads of the block.
template <typename Form>
__device__ __forceinline__ float row_sum(float value, RowSums& shared) {
  value = warp_sum(value);
  if (Form::kWarpsOfRow == 1) return value;
  __syncthreads();
  if (threadIdx.x % kWarp == 0) shared.of_warp[threadIdx.x / kWarp] = value;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < Form::kWarpsOfRow; ++i) sum += shared.of_warp[Form::row() * Form::kWarpsOfRow + i];
  return sum;
}

struct Moments {
  float mean;
  float rstd;
};

// Of the row of C values that v holds; what lies beyond C is not looked at.
template <typename Form>
__device__ __forceinline__ Moments row_moments(const float (&v)[Form::kChunks][8], int C, float eps,
                                               RowSums& shared) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < Form::kChunks; ++i) {
    if (Form::column(i) >= C) continue;
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += v[i][j];
  }
  const float mean = row_sum<Form>(sum, shared) / static_cast<float>(C);
  float squares = 0;
#pragma unroll
  for (int i = 0; i < Form::kChunks; ++i) {
    if (Form::column(i) >= C) continue;
#pragma unroll
    for (int j = 0; j < 8; ++j) squares = fmaf(v[i][j] - mean, v[i][j] - mean, squares);
  }
  return {mean, rsqrtf(row_sum<Form>(squares, shared) / static_cast<float>(C) + eps)};
}

__device__ __forceinline__ void store_stats(const RowStats& stats, std::int64_t row, const Moments& moments) {
  stats.mean[row] = moments.mean;
  stats.rstd[row] = moments.rstd;
}

// v = (v - mean) rstd gamma + beta.
__device__ __forceinline__ void normalise8(float (&v)[8], const Moments& m, const float* gamma,
                                           const float* beta) {
  float g[8], b[8];
  load8_f32(g, gamma);
  load8_f32(b, beta);
#pragma unroll
  for (int j = 0; j < 8; ++j) v[j] = fmaf((v[j] - m.mean) * m.rstd, g[j], b[j]);
}

// Column sums over the rows of a block: a lane's own columns in registers, row by row, then the rows that
// were worked on at once in their order.
template <typename Form>
struct ColumnSums {
  float sum[Form::kChunks][8] = {};
};

template <typename Form>
struct alignas(16) ColumnSumsShared {
  float of_row[Form::kRowsAtOnce][Form::kColumns];
};

// to[0 .. C) = the block's sums. All threads of the block.
template <typename Form>
__device__ void store_column_sums(float* to, const ColumnSums<Form>& sums, int C,
                                  ColumnSumsShared<Form>& shared) {
  __syncthreads();
#pragma unroll
  for (int i = 0; i < Form::kChunks; ++i) {
    float4* const at = reinterpret_cast<float4*>(&shared.of_row[Form::row()][Form::column(i)]);
    at[0] = make_float4(sums.sum[i][0], sums.sum[i][1], sums.sum[i][2], sums.sum[i][3]);
    at[1] = make_float4(sums.sum[i][4], sums.sum[i][5], sums.sum[i][6], sums.sum[i][7]);
  }
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x); c < C; c += kNormThreads) {
    float sum = 0;
    for (int row = 0; row < Form::kRowsAtOnce; ++row) sum += shared.of_row[row][c];
    to[c] = sum;
  }
}

// The gradient of a row through its LayerNorm, f32: dz = rstd (g - mean(g) - h mean(g h)), g = dy gamma. On
// entry dy and z; on return dz in place of dy, h in place of z; dgamma and dbeta have grown. Rows that do not
// count (`live` false) change nothing. All threads of the block.
template <typename Form>
__device__ __forceinline__ void row_backward(float (&dy)[Form::kChunks][8], float (&z)[Form::kChunks][8],
                                             const Moments& m, const float* gamma, int C, bool live,
                                             ColumnSums<Form>& dgamma, ColumnSums<Form>& dbeta,
                                             RowSums& shared) {
  float sum_g = 0, sum_gh = 0;
#pragma unroll
  for (int i = 0; i < Form::kChunks; ++i) {
    if (!live || Form::column(i) >= C) continue;
    float g[8];
    load8_f32(g, gamma + Form::column(i));
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float h = (z[i][j] - m.mean) * m.rstd;
      dgamma.sum[i][j] += dy[i][j] * h;
      dbeta.sum[i][j] += dy[i][j];
      z[i][j] = h;
      dy[i][j] *= g[j];
      sum_g += dy[i][j];
      sum_gh = fmaf(dy[i][j], h, sum_gh);
    }
  }
  const float mean_g = row_sum<Form>(sum_g, shared) / static_cast<float>(C);
  const float mean_gh = row_sum<Form>(sum_gh, shared) / static_cast<float>(C);
#pragma unroll
  for (int i = 0; i < Form::kChunks; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) dy[i][j] = m.rstd * (dy[i][j] - mean_g - z[i][j] * mean_gh);
  }
}

// Calls work.operator()<Form>() with the form of C columns.
template <typename Work>
void with_row_form(int C, const Work& work) {
  if (C <= 256) return work.template operator()<RowForm<1, 1>>();
  if (C <= 512) return work.template operator()<RowForm<2, 1>>();
  if (C <= 768) return work.template operator()<RowForm<3, 1>>();
  if (C <= kMaxHeldColumns) return work.template operator()<RowForm<4, 1>>();
  if (C <= 2 * kMaxHeldColumns) return work.template operator()<RowForm<4, 2>>();
  return work.template operator()<RowForm<4, 4>>();
}

}  // namespace shoal::SHOAL_TARGET
