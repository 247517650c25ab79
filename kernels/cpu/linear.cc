// linear_forward and linear_backward_input on the CPU.
#include "kernels/linear.h"

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vec.h"

namespace shoal::cpu {
namespace {

template <typename T>
void forward(const LinearForward& a, Context& context) {
  multiply_rows(context, {a.dtype, a.x, a.w, true, a.N, a.K, a.rows, {a.y}}, [&](const ResultTile& t) {
    const T* const b = a.b.base ? static_cast<const T*>(a.b.base) + t.slot * a.b.stride + t.column : nullptr;
    for (std::int64_t i = 0; i < t.live; ++i) {
      T* const y = static_cast<T*>(a.y) + (t.row + i) * a.N + t.column;
      const float* const c = t.c + i * t.ldc;
      if (b != nullptr) {
        for (int j = 0; j < t.n; j += kLanes) put16(y + j, load16(c + j) + load16(b + j));
      } else {
        for (int j = 0; j < t.n; j += kLanes) put16(y + j, load16(c + j));
      }
    }
  });
}

template <typename T>
void backward_input(const LinearBackwardInput& a, Context& context) {
  multiply_rows(context, {a.dtype, a.dy, a.w, false, a.K, a.N, a.rows, {a.dx}}, [&](const ResultTile& t) {
    for (std::int64_t i = 0; i < t.live; ++i) {
      T* const dx = static_cast<T*>(a.dx) + (t.row + i) * a.K + t.column;
      const float* const c = t.c + i * t.ldc;
      if (a.add) {
        fetch_row(dx + kStripRows * a.K, t.n);
        for (int j = 0; j < t.n; j += kLanes) put16(dx + j, load16(dx + j) + load16(c + j));
      } else {
        for (int j = 0; j < t.n; j += kLanes) put16(dx + j, load16(c + j));
      }
    }
  });
}

}  // namespace

void linear_forward(const LinearForward& a, Stream stream) {
  check(a);
  Context& ctx = context(stream);
  a.dtype == DType::kF32 ? forward<float>(a, ctx) : forward<bf16>(a, ctx);
}

void linear_backward_input(const LinearBackwardInput& a, Stream stream) {
  check(a);
  Context& ctx = context(stream);
  a.dtype == DType::kF32 ? backward_input<float>(a, ctx) : backward_input<bf16>(a, ctx);
}

}  // namespace shoal::cpu
