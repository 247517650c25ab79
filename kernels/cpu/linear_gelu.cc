// linear_gelu_forward and linear_dgelu_backward on the CPU: the activation works on the hot tile.
#include "kernels/linear_gelu.h"

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vec.h"

namespace shoal::cpu {
namespace {

template <typename T>
struct ErfForm {
  static f32x16 gelu(f32x16 u) { return gelu16<T>(u); }
  static f32x16 derivative(f32x16 u) { return dgelu16<T>(u); }
};

// (1 + tanh z) / 2 = 1 / (1 + exp(-2z)), which keeps its digits where tanh is near -1.
template <typename T>
class TanhForm {
 public:
  static f32x16 gelu(f32x16 u) { return u * Share(u).s; }
  static f32x16 derivative(f32x16 u) {
    const Share a(u);
    const f32x16 slope = fma(a.v * a.v, splat(3 * kCubic), splat(kTwoInner));
    return fma(a.v * slope, a.e * a.s * a.s, a.s);
  }

 private:
  static constexpr float kTwoInner = 1.59576912f;  // 2 sqrt(2 / pi)
  static constexpr float kCubic = 0.0713548163f;   // 2 sqrt(2 / pi) 0.044715
  static constexpr float kFlat = 30.0f;            // beyond it s is 0 or 1, and u^3 must not overflow
  static constexpr float kTail = 80.0f;            // s below exp(-80) counts as 0: no subnormal numbers

  struct Share {
    f32x16 v, e, s;

    explicit Share(f32x16 u) : v(at_most(kFlat, at_least(-kFlat, u))) {
      const f32x16 exponent = -v * fma(v * v, splat(kCubic), splat(kTwoInner));
      e = exp16(at_most(kTail, exponent));
      const f32x16 share = reciprocal16<sizeof(T) == sizeof(float)>(e + 1.0f);
      s = exponent > kTail ? f32x16{} : share;
    }
  };
};

template <typename T, typename Form>
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
        put16(g + j, Form::gelu(sum));
      }
    }
  });
}

template <typename T, typename Form>
void backward(const LinearDgeluBackward& a, Context& context) {
  multiply_rows(context, {a.dtype, a.dy, a.w, false, a.K, a.N, a.rows, {a.du}}, [&](const ResultTile& t) {
    for (std::int64_t i = 0; i < t.live; ++i) {
      const std::int64_t at = (t.row + i) * a.K + t.column;
      T* const du = static_cast<T*>(a.du) + at;
      const T* const u = static_cast<const T*>(a.u) + at;
      const float* const c = t.c + i * t.ldc;
      fetch_row(u + kStripRows * a.K, t.n);
      for (int j = 0; j < t.n; j += kLanes) put16(du + j, load16(c + j) * Form::derivative(load16(u + j)));
    }
  });
}

template <typename T>
void forward_of(const LinearGeluForward& a, Context& context) {
  a.form == GeluForm::kErf ? forward<T, ErfForm<T>>(a, context) : forward<T, TanhForm<T>>(a, context);
}

template <typename T>
void backward_of(const LinearDgeluBackward& a, Context& context) {
  a.form == GeluForm::kErf ? backward<T, ErfForm<T>>(a, context) : backward<T, TanhForm<T>>(a, context);
}

}  // namespace

void linear_gelu_forward(const LinearGeluForward& a, Stream stream) {
  check(a);
  Context& ctx = context(stream);
  a.dtype == DType::kF32 ? forward_of<float>(a, ctx) : forward_of<bf16>(a, ctx);
}

void linear_dgelu_backward(const LinearDgeluBackward& a, Stream stream) {
  check(a);
  Context& ctx = context(stream);
  a.dtype == DType::kF32 ? backward_of<float>(a, ctx) : backward_of<bf16>(a, ctx);
}

}  // namespace shoal::cpu
