// bias_dropout_residual_layernorm, forward and backward (parts/layernorm.h): each activation is read once and
// written once.
#include "kernels/bias_dropout_residual_layernorm.h"
#include "kernels/cuda/parts/layernorm.h"
#include "kernels/cuda/parts/refuse.h"

namespace shoal::SHOAL_TARGET {
namespace {

constexpr int kForwardRows = 32;  // of one block

template <typename Form>
__global__ void __launch_bounds__(kNormThreads, 2)
    bias_dropout_residual_layernorm_forward_kernel(BiasDropoutResidualLayerNormForward a) {
  SHOAL_SHARED(RowSums, shared);
  const RunOfRows run =
      run_of_rows(a.rows, static_cast<std::int64_t>(blockIdx.x) * kForwardRows, kForwardRows);
  if (run.tail == 0) return;
  const int slot = a.rows.slot[run.w];
  const bf16* const b = of_slot<bf16>(a.b, slot);
  const float *const gamma = of_slot<float>(a.gamma, slot), *const beta = of_slot<float>(a.beta, slot);
  const HiddenDropout dropout(a.drop, run.w);
  for (int first = 0; first < kForwardRows; first += Form::kRowsAtOnce) {
    const int row = first + Form::row();
    const bool live = row < run.live;
    const std::int64_t at = run.first + row;
    float z[Form::kChunks][8] = {};
#pragma unroll
    for (int i = 0; i < Form::kChunks; ++i) {
      const int column = Form::column(i);
      if (!live || column >= a.C) continue;
      float bias[8], residual[8];
      load8(z[i], row_of<bf16>(a.x, at, a.C) + column);
      load8(residual, row_of<bf16>(a.residual, at, a.C) + column);
      load8(bias, b + column);
#pragma unroll
      for (int j = 0; j < 8; ++j) z[i][j] += bias[j];
      dropout.apply(
          z[i], static_cast<std::uint32_t>(((run.own + row) * static_cast<std::int64_t>(a.C) + column) / 8));
#pragma unroll
      for (int j = 0; j < 8; ++j) z[i][j] = round_bf16(z[i][j] + residual[j]);
    }
    const Moments moments = row_moments<Form>(z, a.C, a.eps, shared);
    if (row >= run.tail) continue;
#pragma unroll
    for (int i = 0; i < Form::kChunks; ++i) {
      const int column = Form::column(i);
      if (column >= a.C) continue;
      if (a.z != nullptr) store8(row_of<bf16>(a.z, at, a.C) + column, z[i]);
      if (live) normalise8(z[i], moments, gamma + column, beta + column);
      store8(row_of<bf16>(a.y, at, a.C) + column, z[i]);
    }
    if (live && a.z != nullptr && Form::column(0) == 0) store_stats(a.stats, at, moments);
  }
}

template <typename Form>
__global__ void __launch_bounds__(kNormThreads)
    bias_dropout_residual_layernorm_backward_kernel(BiasDropoutResidualLayerNormBackward a) {
  struct Shared {
    RowSums rows;
    ColumnSumsShared<Form> columns;
  };
  SHOAL_SHARED(Shared, shared);
  const RunOfRows run = run_of_rows(a.rows, static_cast<std::int64_t>(blockIdx.x) * kRowChunk, kRowChunk);
  if (run.tail == 0) return;
  const float* const gamma = of_slot<float>(a.gamma, a.rows.slot[run.w]);
  const HiddenDropout dropout(a.drop, run.w);
  ColumnSums<Form> dgamma, dbeta, dbias;
  for (int first = 0; first < kRowChunk; first += Form::kRowsAtOnce) {
    const int row = first + Form::row();
    const bool live = row < run.live;
    const std::int64_t at = run.first + row;
    const Moments moments = live ? Moments{a.stats.mean[at], a.stats.rstd[at]} : Moments{0, 0};
    float dz[Form::kChunks][8] = {}, z[Form::kChunks][8] = {};
#pragma unroll
    for (int i = 0; i < Form::kChunks; ++i) {
      const int column = Form::column(i);
      if (!live || column >= a.C) continue;
      load8(dz[i], row_of<bf16>(a.dy, at, a.C) + column);
      load8(z[i], row_of<bf16>(a.z, at, a.C) + column);
    }
    row_backward<Form>(dz, z, moments, gamma, a.C, live, dgamma, dbeta, shared.rows);
    if (row >= run.tail) continue;
#pragma unroll
    for (int i = 0; i < Form::kChunks; ++i) {
      const int column = Form::column(i);
      if (column >= a.C) continue;
      bf16 *const to_dz = row_of<bf16>(a.dz, at, a.C) + column, *const to_dx =
                                                                    row_of<bf16>(a.dx, at, a.C) + column;
      if (!live) {
        store8_zeros(to_dz);
        store8_zeros(to_dx);
        continue;
      }
      store8(to_dz, dz[i]);
      dropout.apply(
          dz[i], static_cast<std::uint32_t>(((run.own + row) * static_cast<std::int64_t>(a.C) + column) / 8));
      const uint4 dx = pack8(dz[i]);
      *reinterpret_cast<uint4*>(to_dx) = dx;
      unpack8(dz[i], dx);
#pragma unroll
      for (int j = 0; j < 8; ++j) dbias.sum[i][j] += dz[i][j];
    }
  }
  if (run.live == 0) return;
  float* const partial = a.partial + run.first / kRowChunk * 3 * a.C;
  store_column_sums<Form>(partial, dgamma, a.C, shared.columns);
  store_column_sums<Form>(partial + a.C, dbeta, a.C, shared.columns);
  store_column_sums<Form>(partial + 2 * a.C, dbias, a.C, shared.columns);
}

}  // namespace

void bias_dropout_residual_layernorm_forward(const BiasDropoutResidualLayerNormForward& a, Stream stream) {
  check(a);
  require_bf16("bias_dropout_residual_layernorm_forward", a.dtype);
  with_row_form(a.C, [&]<typename Form>() {
    launch<bias_dropout_residual_layernorm_forward_kernel<Form>>(
        {.name = "bias_dropout_residual_layernorm_forward",
         .grid = dim3(static_cast<unsigned>(a.rows.rows / kForwardRows)),
         .block = dim3(kNormThreads),
         .stream = stream},
        a);
  });
}

void bias_dropout_residual_layernorm_backward(const BiasDropoutResidualLayerNormBackward& a, Stream stream) {
  check(a);
  require_bf16("bias_dropout_residual_layernorm_backward", a.dtype);
  with_row_form(a.C, [&]<typename Form>() {
    launch<bias_dropout_residual_layernorm_backward_kernel<Form>>(
        {.name = "bias_dropout_residual_layernorm_backward",
         .grid = dim3(static_cast<unsigned>(a.rows.rows / kRowChunk)),
         .block = dim3(kNormThreads),
         .stream = stream},
        a);
  });
}

}  // namespace shoal::SHOAL_TARGET
