// The CPU form of optimizer.h's gradient_norm: one pass over the gradients, then a short sum.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/context.h"
#include "kernels/cpu/f32x16.h"
#include "kernels/optimizer.h"

namespace shoal::cpu {
namespace {

// sum of g^2 in eight chains of sixteen lanes: enough to keep up with memory, short enough to lose no
// digits. What is left of a vector at the end is padded with zeros. marks: a run that is not touched is zero,
// and would leave every chain as it is.
float sum_of_squares(const float* g, std::int64_t n, const std::uint8_t* marks) {
  constexpr int kChains = 8;
  static_assert(kChains * kLanes == kTouchRun);
  f32x16 chain[kChains] = {};
  std::int64_t i = 0;
  for (; i + kChains * kLanes <= n; i += kChains * kLanes) {
    if (marks != nullptr && marks[i / kTouchRun] == 0) continue;
    for (int c = 0; c < kChains; ++c) {
      const f32x16 value = load16(g + i + c * kLanes);
      chain[c] = fma(value, value, chain[c]);
    }
  }
  f32x16 rest = {};
  for (; i < n; i += kLanes) {
    const f32x16 value = n - i >= kLanes ? load16(g + i) : load_first(g + i, n - i);
    rest = fma(value, value, rest);
  }
  const f32x16 left = (chain[0] + chain[1]) + (chain[2] + chain[3]);
  const f32x16 right = (chain[4] + chain[5]) + (chain[6] + chain[7]);
  return sum16((left + right) + rest);
}

// Elements of a chunk that are the slot's own; 0 or less: none.
std::int64_t own_elements(const ParamTable& table, const std::int64_t* own, int chunk) {
  const ParamChunk& c = table.chunk[chunk];
  return std::min(kParamChunk, own[c.tensor] - c.begin);
}

void finish(const GradientNorm& a, int w, const std::int64_t* own, const float* partial) {
  double sum = 0;
  for (int c = 0; c < a.table.chunks; ++c) {
    if (own_elements(a.table, own, c) > 0) sum += static_cast<double>(partial[c]);
  }
  const auto norm = static_cast<float>(std::sqrt(sum));
  const bool finite = std::isfinite(norm);
  a.norm[w] = norm;
  a.nonfinite[w] = finite && (a.loss == nullptr || std::isfinite(a.loss[w])) ? 0 : 1;
  a.coef[w] = finite && a.max_norm[w] > 0 ? std::min(1.0f, a.max_norm[w] / (norm + 1e-6f)) : 1.0f;
}

}  // namespace

void gradient_norm(const GradientNorm& a, Stream stream) {
  check(a);
  const ParamTable& table = a.table;
#pragma omp parallel num_threads(context(stream).threads)
  {
    for (int w = 0; w < a.W; ++w) {
      if (a.update[w] == 0) continue;
      const std::int64_t slot = a.slot[w];
      const std::int64_t* own = table.own + slot * table.tensors;
      float* partial = a.partial + static_cast<std::int64_t>(w) * table.chunks;
#pragma omp for schedule(dynamic, 4) nowait
      for (int c = 0; c < table.chunks; ++c) {
        const std::int64_t n = own_elements(table, own, c);
        if (n <= 0) continue;
        const ParamChunk& chunk = table.chunk[c];
        const ParamSpan& span = table.span[chunk.tensor];
        const std::int64_t at = slot * a.stride + span.train_offset + chunk.begin;
        const bool marked = a.touched != nullptr && span.sparse != 0;
        partial[c] = sum_of_squares(a.grad + at, n, marked ? a.touched + at / kTouchRun : nullptr);
      }
    }
#pragma omp barrier
#pragma omp for schedule(static)
    for (int w = 0; w < a.W; ++w) {
      if (a.update[w] == 0) continue;
      finish(a, w, table.own + static_cast<std::int64_t>(a.slot[w]) * table.tensors,
             a.partial + static_cast<std::int64_t>(w) * table.chunks);
    }
  }
}

}  // namespace shoal::cpu
