// linear_gelu_forward and linear_dgelu_backward: parts/gemm.h, the activation applied to the sums on their
// way out.
#include "kernels/cuda/parts/gelu.h"
#include "kernels/cuda/parts/gemm.h"
#include "kernels/cuda/parts/refuse.h"
#include "kernels/linear_gelu.h"

namespace shoal::SHOAL_TARGET {
namespace {

template <GeluForm kForm>
struct StoreGelu {
  void* u;  // or null
  void* g;
  Param b;
  int N;
  __device__ void operator()(std::int64_t row, int column, float (&v)[8], int slot) const {
    add_bias(v, b, slot, column);
    const uint4 rounded = pack8(v);
    if (u != nullptr) *reinterpret_cast<uint4*>(row_of<bf16>(u, row, N) + column) = rounded;
    unpack8(v, rounded);
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = gelu<kForm>(v[j]);
    store8(row_of<bf16>(g, row, N) + column, v);
  }
  __device__ void zero(std::int64_t row, int column) const {
    if (u != nullptr) store8_zeros(row_of<bf16>(u, row, N) + column);
    store8_zeros(row_of<bf16>(g, row, N) + column);
  }
};

template <GeluForm kForm>
struct StoreDgelu {
  void* du;
  const void* u;
  int K;
  __device__ void operator()(std::int64_t row, int column, float (&v)[8], int) const {
    float before[8];
    load8(before, row_of<bf16>(u, row, K) + column);
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] *= gelu_derivative<kForm>(before[j]);
    store8(row_of<bf16>(du, row, K) + column, v);
  }
  __device__ void zero(std::int64_t row, int column) const {
    store8_zeros(row_of<bf16>(du, row, K) + column);
  }
};

template <GeluForm kForm>
__global__ void __launch_bounds__(kGemmThreads, 2)
    linear_gelu_forward_kernel(Gemm g, StoreGelu<kForm> store) {
  gemm_block<Operand::kAlongSum>(g, store);
}
template <GeluForm kForm>
__global__ void __launch_bounds__(kGemmThreads, 2)
    linear_dgelu_backward_kernel(Gemm g, StoreDgelu<kForm> store) {
  gemm_block<Operand::kAcrossSum>(g, store);
}

}  // namespace

void linear_gelu_forward(const LinearGeluForward& a, Stream stream) {
  check(a);
  require_bf16("linear_gelu_forward", a.dtype);
  const Gemm g{.a = a.x, .b = a.w, .P = a.N, .Q = a.K, .rows = a.rows};
  const Launch how = gemm_launch("linear_gelu_forward", g, stream);
  if (a.form == GeluForm::kErf) {
    launch<linear_gelu_forward_kernel<GeluForm::kErf>>(how, g, StoreGelu<GeluForm::kErf>{a.u, a.g, a.b, a.N});
  } else {
    launch<linear_gelu_forward_kernel<GeluForm::kTanh>>(how, g,
                                                        StoreGelu<GeluForm::kTanh>{a.u, a.g, a.b, a.N});
  }
}

void linear_dgelu_backward(const LinearDgeluBackward& a, Stream stream) {
  check(a);
  require_bf16("linear_dgelu_backward", a.dtype);
  const Gemm g{.a = a.dy, .b = a.w, .P = a.K, .Q = a.N, .rows = a.rows};
  const Launch how = gemm_launch("linear_dgelu_backward", g, stream);
  if (a.form == GeluForm::kErf) {
    launch<linear_dgelu_backward_kernel<GeluForm::kErf>>(how, g, StoreDgelu<GeluForm::kErf>{a.du, a.u, a.K});
  } else {
    launch<linear_dgelu_backward_kernel<GeluForm::kTanh>>(how, g,
                                                          StoreDgelu<GeluForm::kTanh>{a.du, a.u, a.K});
  }
}

}  // namespace shoal::SHOAL_TARGET
