// The CPU form of optimizer.h's adamw: one pass over weights, moments and gradients, as fast as memory.
//
// Word embeddings: most rows never occur. A run of a sparse tensor whose gradient, m and v are all zero
// bits moves by the decay alone, whatever the scalars (eps > 0: 0 / eps is 0), so its weights are left
// unread where decay is 1; the marks say of most runs that they need not even be looked at. The bits are
// those of the full formula. Moments below the smallest normal number become zero: those of a row that once
// occurred would else shrink into the subnormals, where arithmetic is many times slower, and stay there for
// ever.
#include <algorithm>
#include <limits>

#include "kernels/cpu/context.h"
#include "kernels/cpu/f32x16.h"
#include "kernels/optimizer.h"

namespace shoal::cpu {
namespace {

struct Scalars {
  f32x16 coef, beta1, one_minus_beta1, beta2, one_minus_beta2, eps, decay, minus_step, bias2_sqrt;

  Scalars(const AdamWScalars& s, float clip, bool decays)
      : coef(splat(clip)),
        beta1(splat(s.beta1)),
        one_minus_beta1(splat(s.one_minus_beta1)),
        beta2(splat(s.beta2)),
        one_minus_beta2(splat(s.one_minus_beta2)),
        eps(splat(s.eps)),
        decay(splat(decays ? s.decay : 1.0f)),
        minus_step(splat(-s.step_size)),
        bias2_sqrt(splat(s.bias2_sqrt)) {}
};

// The elements of one tensor in one chunk.
struct Piece {
  float* p = nullptr;
  bf16* p16 = nullptr;  // or null
  float* m = nullptr;
  float* v = nullptr;
  float* grad = nullptr;
  const std::uint8_t* touched = nullptr;  // of a sparse tensor's runs, or null
};

f32x16 flushed(f32x16 value) {
  const f32x16 size = value < 0.0f ? -value : value;
  return size < std::numeric_limits<float>::min() ? f32x16{} : value;
}

inline f32x16 stepped(f32x16 p, f32x16 grad, f32x16& m, f32x16& v, const Scalars& s) {
  const f32x16 g = s.coef * grad;
  m = flushed(fma(s.one_minus_beta1, g, s.beta1 * m));
  v = flushed(fma(s.one_minus_beta2 * g, g, s.beta2 * v));
  return fma(s.minus_step, m / (sqrt(v) / s.bias2_sqrt + s.eps), p * s.decay);
}

void update(const Piece& a, std::int64_t first, std::int64_t last, const Scalars& s) {
  std::int64_t i = first;
  for (; i + kLanes <= last; i += kLanes) {
    f32x16 m = load16(a.m + i), v = load16(a.v + i);
    const f32x16 p = stepped(load16(a.p + i), load16(a.grad + i), m, v, s);
    store16(a.m + i, m);
    store16(a.v + i, v);
    store16(a.p + i, p);
    if (a.p16 != nullptr) store16(a.p16 + i, p);
  }
  if (i < last) {
    const std::int64_t n = last - i;
    f32x16 m = load_first(a.m + i, n), v = load_first(a.v + i, n);
    const f32x16 p = stepped(load_first(a.p + i, n), load_first(a.grad + i, n), m, v, s);
    store_first(a.m + i, m, n);
    store_first(a.v + i, v, n);
    store_first(a.p + i, p, n);
    if (a.p16 != nullptr) store_first(a.p16 + i, p, n);
  }
}

// Whether n elements are +0, every bit of them.
bool all_zero(const float* x, std::int64_t n) {
  u32x16 any = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) any |= reinterpret_cast<u32x16>(load16(x + i));
  if (i < n) any |= reinterpret_cast<u32x16>(load_first(x + i, n - i));
  using u64x8 = std::uint64_t __attribute__((vector_size(64)));
  const auto wide = reinterpret_cast<u64x8>(any);
  return ((wide[0] | wide[1]) | (wide[2] | wide[3]) | (wide[4] | wide[5]) | (wide[6] | wide[7])) == 0;
}

void decay_alone(const Piece& a, std::int64_t first, std::int64_t last, const Scalars& s) {
  const float decay = s.decay[0];
  if (decay == 1.0f) return;
  for (std::int64_t i = first; i < last; ++i) {
    a.p[i] *= decay;
    if (a.p16 != nullptr) a.p16[i] = bf16(a.p[i]);
  }
}

void update_sparse(const Piece& a, std::int64_t n, const Scalars& s, float eps, bool held_back) {
  for (std::int64_t i = 0; i < n; i += kTouchRun) {
    const std::int64_t last = std::min<std::int64_t>(n, i + kTouchRun);
    if (a.touched != nullptr && a.touched[i / kTouchRun] == 0 && eps > 0) {
      if (!held_back) decay_alone(a, i, last, s);
      continue;
    }
    const bool untouched = all_zero(a.grad + i, last - i);
    if (!held_back) {
      if (untouched && eps > 0 && all_zero(a.m + i, last - i) && all_zero(a.v + i, last - i)) {
        decay_alone(a, i, last, s);
      } else {
        update(a, i, last, s);
      }
    }
    if (!untouched) std::fill(a.grad + i, a.grad + last, 0.0f);
  }
}

void update_chunk(const AdamW& a, int w, const ParamChunk& chunk, const ParamSpan& span, std::int64_t n) {
  const std::int64_t slot = a.slot[w];
  const std::int64_t weight = slot * a.row_stride + span.offset + chunk.begin;
  const std::int64_t train = slot * a.train_stride + span.train_offset + chunk.begin;
  const Piece piece = {a.p + weight,   a.p16 != nullptr ? a.p16 + weight : nullptr,
                       a.m + train,    a.v + train,
                       a.grad + train, a.touched != nullptr ? a.touched + train / kTouchRun : nullptr};
  const Scalars scalars(a.scalars[w], a.coef[w], span.decay != 0);
  if (span.sparse != 0) {
    update_sparse(piece, n, scalars, a.scalars[w].eps, a.nonfinite[w] != 0);
  } else {
    update(piece, 0, n, scalars);
  }
}

}  // namespace

void adamw(const AdamW& a, Stream stream) {
  check(a);
  const ParamTable& table = a.table;
#pragma omp parallel num_threads(context(stream).threads)
  for (int w = 0; w < a.W; ++w) {
    if (a.update[w] == 0) continue;
    const std::int64_t* own = table.own + static_cast<std::int64_t>(a.slot[w]) * table.tensors;
#pragma omp for schedule(dynamic, 2) nowait
    for (int c = 0; c < table.chunks; ++c) {
      const ParamChunk& chunk = table.chunk[c];
      const ParamSpan& span = table.span[chunk.tensor];
      const std::int64_t n = std::min(kParamChunk, own[chunk.tensor] - chunk.begin);
      if (n <= 0 || (a.nonfinite[w] != 0 && span.sparse == 0)) continue;
      update_chunk(a, w, chunk, span, n);
    }
  }
}

}  // namespace shoal::cpu
