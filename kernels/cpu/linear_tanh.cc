// linear_tanh_forward and tanh_backward on the CPU.
#include "kernels/linear_tanh.h"

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vec.h"

namespace shoal::cpu {
namespace {

template <typename T>
void forward(const LinearTanhForward& a, Context& context) {
  multiply_rows(context, {a.dtype, a.x, a.w, true, a.N, a.K, a.rows, {a.y}}, [&](const ResultTile& t) {
    const T* const b = static_cast<const T*>(a.b.base) + t.slot * a.b.stride + t.column;
    for (std::int64_t i = 0; i < t.live; ++i) {
      T* const y = static_cast<T*>(a.y) + (t.row + i) * a.N + t.column;
      const float* const c = t.c + i * t.ldc;
      for (int j = 0; j < t.n; j += kLanes) put16(y + j, tanh16(load16(c + j) + load16(b + j)));
    }
  });
}

template <typename T>
void backward(const TanhBackward& a, const Context& context) {
#pragma omp parallel for num_threads(context.threads) schedule(dynamic)
  for (int w = 0; w < a.rows.W; ++w) {
    const std::int64_t at = a.rows.row0[w] * std::int64_t{a.N}, n = a.rows.live[w] * std::int64_t{a.N};
    T* const du = static_cast<T*>(a.du) + at;
    const T* const dy = static_cast<const T*>(a.dy) + at;
    const T* const y = static_cast<const T*>(a.y) + at;
    for (std::int64_t i = 0; i < n; i += kLanes) {
      const f32x16 value = load16(y + i);
      put16(du + i, load16(dy + i) * (1.0f - value * value));
    }
  }
}

}  // namespace

void linear_tanh_forward(const LinearTanhForward& a, Stream stream) {
  check(a);
  Context& ctx = context(stream);
  a.dtype == DType::kF32 ? forward<float>(a, ctx) : forward<bf16>(a, ctx);
}

void tanh_backward(const TanhBackward& a, Stream stream) {
  check(a);
  Context& ctx = context(stream);
  a.dtype == DType::kF32 ? backward<float>(a, ctx) : backward<bf16>(a, ctx);
  zero_tails(ctx, a.du, a.dtype, a.N, a.rows);
}

}  // namespace shoal::cpu
