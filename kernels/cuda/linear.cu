// linear_forward and linear_backward_input: parts/gemm.h with a bias, or added to what is there.
#include "kernels/cuda/parts/gemm.h"
#include "kernels/cuda/parts/refuse.h"
#include "kernels/linear.h"

namespace shoal::SHOAL_TARGET {
namespace {

struct StoreWithBias {
  void* y;
  Param b;
  int N;
  __device__ void operator()(std::int64_t row, int column, float (&v)[8], int slot) const {
    add_bias(v, b, slot, column);
    store8(row_of<bf16>(y, row, N) + column, v);
  }
  __device__ void zero(std::int64_t row, int column) const { store8_zeros(row_of<bf16>(y, row, N) + column); }
};

template <bool kAdd>
struct StoreGradient {
  void* dx;
  int K;
  __device__ void operator()(std::int64_t row, int column, float (&v)[8], int) const {
    bf16* const at = row_of<bf16>(dx, row, K) + column;
    if (kAdd) {
      float before[8];
      load8(before, at);
#pragma unroll
      for (int j = 0; j < 8; ++j) v[j] += before[j];
    }
    store8(at, v);
  }
  __device__ void zero(std::int64_t row, int column) const {
    store8_zeros(row_of<bf16>(dx, row, K) + column);
  }
};

__global__ void __launch_bounds__(kGemmThreads, 2) linear_forward_kernel(Gemm g, StoreWithBias store) {
  gemm_block<Operand::kAlongSum>(g, store);
}
template <bool kAdd>
__global__ void __launch_bounds__(kGemmThreads, 2)
    linear_backward_input_kernel(Gemm g, StoreGradient<kAdd> store) {
  gemm_block<Operand::kAcrossSum>(g, store);
}

}  // namespace

void linear_forward(const LinearForward& a, Stream stream) {
  check(a);
  require_bf16("linear_forward", a.dtype);
  const Gemm g{.a = a.x, .b = a.w, .P = a.N, .Q = a.K, .rows = a.rows};
  launch<linear_forward_kernel>(gemm_launch("linear_forward", g, stream), g, StoreWithBias{a.y, a.b, a.N});
}

void linear_backward_input(const LinearBackwardInput& a, Stream stream) {
  check(a);
  require_bf16("linear_backward_input", a.dtype);
  const Gemm g{.a = a.dy, .b = a.w, .P = a.K, .Q = a.N, .rows = a.rows};
  const Launch how = gemm_launch("linear_backward_input", g, stream);
  if (a.add) {
    launch<linear_backward_input_kernel<true>>(how, g, StoreGradient<true>{a.dx, a.K});
  } else {
    launch<linear_backward_input_kernel<false>>(how, g, StoreGradient<false>{a.dx, a.K});
  }
}

}  // namespace shoal::SHOAL_TARGET
