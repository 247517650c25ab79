// embedding_layernorm, forward and backward (parts/layernorm.h). The backward of the tables themselves is
// embedding_backward.cu.
#include "kernels/cuda/parts/layernorm.h"
#include "kernels/cuda/parts/refuse.h"
#include "kernels/embedding_layernorm.h"

namespace shoal::SHOAL_TARGET {
namespace {

constexpr int kForwardRows = 32;  // of one block

template <typename Form>
__global__ void __launch_bounds__(kNormThreads, 2)
    embedding_layernorm_forward_kernel(EmbeddingLayerNormForward a) {
  SHOAL_SHARED(RowSums, shared);
  const RunOfRows run =
      run_of_rows(a.rows, static_cast<std::int64_t>(blockIdx.x) * kForwardRows, kForwardRows);
  if (run.tail == 0) return;
  const int slot = a.rows.slot[run.w];
  const float *const gamma = of_slot<float>(a.gamma, slot), *const beta = of_slot<float>(a.beta, slot);
  const HiddenDropout dropout(a.drop, run.w);
  for (int first = 0; first < kForwardRows; first += Form::kRowsAtOnce) {
    const int row = first + Form::row();
    const bool live = row < run.live;
    const std::int64_t at = run.first + row;
    float z[Form::kChunks][8] = {};
    if (live) {
      const float* const word = of_slot<float>(a.word, slot) + static_cast<std::int64_t>(a.ids[at]) * a.C;
      const float* const position =
          of_slot<float>(a.position, slot) + static_cast<std::int64_t>(a.positions[at]) * a.C;
      const float* const type = of_slot<float>(a.type, slot) + static_cast<std::int64_t>(a.types[at]) * a.C;
#pragma unroll
      for (int i = 0; i < Form::kChunks; ++i) {
        const int column = Form::column(i);
        if (column >= a.C) continue;
        float p[8], t[8];
        load8_f32(z[i], word + column);
        load8_f32(p, position + column);
        load8_f32(t, type + column);
#pragma unroll
        for (int j = 0; j < 8; ++j) z[i][j] = round_bf16(z[i][j] + p[j] + t[j]);
      }
    }
    const Moments moments = row_moments<Form>(z, a.C, a.eps, shared);
    if (row >= run.tail) continue;
#pragma unroll
    for (int i = 0; i < Form::kChunks; ++i) {
      const int column = Form::column(i);
      if (column >= a.C) continue;
      if (a.z != nullptr) store8(row_of<bf16>(a.z, at, a.C) + column, z[i]);
      if (live) {
        normalise8(z[i], moments, gamma + column, beta + column);
        dropout.apply(z[i], static_cast<std::uint32_t>(
                                ((run.own + row) * static_cast<std::int64_t>(a.C) + column) / 8));
      }
      store8(row_of<bf16>(a.y, at, a.C) + column, z[i]);
    }
    if (live && a.z != nullptr && Form::column(0) == 0) store_stats(a.stats, at, moments);
  }
}

template <typename Form>
__global__ void __launch_bounds__(kNormThreads)
    embedding_layernorm_backward_kernel(EmbeddingLayerNormBackward a) {
  struct Shared {
    RowSums rows;
    ColumnSumsShared<Form> columns;
  };
  SHOAL_SHARED(Shared, shared);
  const RunOfRows run = run_of_rows(a.rows, static_cast<std::int64_t>(blockIdx.x) * kRowChunk, kRowChunk);
  if (run.tail == 0) return;
  const float* const gamma = of_slot<float>(a.gamma, a.rows.slot[run.w]);
  const HiddenDropout dropout(a.drop, run.w);
  ColumnSums<Form> dgamma, dbeta;
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
      dropout.apply(
          dz[i], static_cast<std::uint32_t>(((run.own + row) * static_cast<std::int64_t>(a.C) + column) / 8));
      load8(z[i], row_of<bf16>(a.z, at, a.C) + column);
    }
    row_backward<Form>(dz, z, moments, gamma, a.C, live, dgamma, dbeta, shared.rows);
    if (row >= run.tail) continue;
#pragma unroll
    for (int i = 0; i < Form::kChunks; ++i) {
      const int column = Form::column(i);
      if (column >= a.C) continue;
      bf16* const to = row_of<bf16>(a.dz, at, a.C) + column;
      if (live) {
        store8(to, dz[i]);
      } else {
        store8_zeros(to);
      }
    }
  }
  if (run.live == 0) return;
  float* const partial = a.partial + run.first / kRowChunk * 3 * a.C;
  store_column_sums<Form>(partial, dgamma, a.C, shared.columns);
  store_column_sums<Form>(partial + a.C, dbeta, a.C, shared.columns);
  for (int c = static_cast<int>(threadIdx.x); c < a.C; c += kNormThreads) partial[2 * a.C + c] = 0;
}

}  // namespace

void embedding_layernorm_forward(const EmbeddingLayerNormForward& a, Stream stream) {
  check(a);
  require_bf16("embedding_layernorm_forward", a.dtype);
  with_row_form(a.C, [&]<typename Form>() {
    launch<embedding_layernorm_forward_kernel<Form>>(
        {.name = "embedding_layernorm_forward",
         .grid = dim3(static_cast<unsigned>(a.rows.rows / kForwardRows)),
         .block = dim3(kNormThreads),
         .stream = stream},
        a);
  });
}

void embedding_layernorm_backward(const EmbeddingLayerNormBackward& a, Stream stream) {
  check(a);
  require_bf16("embedding_layernorm_backward", a.dtype);
  with_row_form(a.C, [&]<typename Form>() {
    launch<embedding_layernorm_backward_kernel<Form>>(
        {.name = "embedding_layernorm_backward",
         .grid = dim3(static_cast<unsigned>(a.rows.rows / kRowChunk)),
         .block = dim3(kNormThreads),
         .stream = stream},
        a);
  });
}

}  // namespace shoal::SHOAL_TARGET
