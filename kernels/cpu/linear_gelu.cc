// linear_gelu_forward and linear_dgelu_backward on the CPU: the activation works on the hot tile.
#include "kernels/linear_gelu.h"

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vec.h"

namespace shoal::cpu {
namespace {

template <typename T>
void forward(const LinearGeluForward& a, Context& context) {
  multiply_rows(context, {a.dtype, a.x, a.w, true, a.N, a.K, a.rows, {a.g, a.u}}, [&](const ResultTile& t) {
    const T* const b = static_cast<const T*>(a.b.base) + t.slot * a.b.stride + t.column;
    for (std::int64_t i = 0; i < t.live; ++i) {
      const std::int64_t at = (t.row + i) * a.N + t.column;
      T* const g = static_cast<T*>(a.g) + at;
      const float* const c = t.c + i * t.ldc;
      T* const u = a.u != nullptr ? static_cast<T*>(a.u) + at : g;  // g overwrites its own u
      for (int j = 0; j < t.n; j += kLanes) {
        const f32x16 sum = put_rounded16(u + j, load16(c + j) + load16(b + j));
        put16(g + j, gelu16<T>(sum));
      }
    }
  });
}

template <typename T>
void backward(const LinearDgeluBackward& a, Context& context) {
  multiply_rows(context, {a.dtype, a.dy, a.w, false, a.K, a.N, a.rows, {a.du}}, [&](const ResultTile& t) {
    for (std::int64_t i = 0; i < t.live; ++i) {
      const std::int64_t at = (t.row + i) * a.K + t.column;
      T* const du = static_cast<T*>(a.du) + at;
      const T* const u = static_cast<const T*>(a.u) + at;
      const float* const c = t.c + i * t.ldc;
      fetch_row(u + kStripRows * a.K, t.n);
      for (int j = 0; j < t.n; j += kLanes) put16(du + j, load16(c + j) * dgelu16<T>(load16(u + j)));
    }
  });
}

}  // namespace

void linear_gelu_forward(const LinearGeluForward& a, Stream stream) {
  check(a);
  Context& ctx = context(stream);
  a.dtype == DType::kF32 ? forward<float>(a, ctx) : forward<bf16>(a, ctx);
}

void linear_dgelu_backward(const LinearDgeluBackward& a, Stream stream) {
  check(a);
  Context& ctx = context(stream);
  a.dtype == DType::kF32 ? backward<float>(a, ctx) : backward<bf16>(a, ctx);
}

}  // namespace shoal::cpu
