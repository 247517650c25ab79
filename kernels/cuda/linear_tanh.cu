// linear_tanh_forward: parts/gemm.h with tanh of the sums. tanh_backward: one pass over the rows.
#include "kernels/cuda/parts/gemm.h"
#include "kernels/cuda/parts/refuse.h"
#include "kernels/linear_tanh.h"

namespace shoal::SHOAL_TARGET {
namespace {

struct StoreTanh {
  void* y;
  Param b;
  int N;
  __device__ void operator()(std::int64_t row, int column, float (&v)[8], int slot) const {
    add_bias(v, b, slot, column);
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = tanhf(v[j]);
    store8(row_of<bf16>(y, row, N) + column, v);
  }
  __device__ void zero(std::int64_t row, int column) const {
    store8_zeros(row_of<bf16>(y, row, N) + column);
  }
};

__global__ void __launch_bounds__(kGemmThreads, 2) linear_tanh_forward_kernel(Gemm g, StoreTanh store) {
  gemm_block<Operand::kAlongSum>(g, store);
}

constexpr int kRowsOfBlock = 16, kThreads = 256;

__global__ void __launch_bounds__(kThreads) tanh_backward_kernel(TanhBackward a) {
  const RunOfRows run =
      run_of_rows(a.rows, static_cast<std::int64_t>(blockIdx.x) * kRowsOfBlock, kRowsOfBlock);
  const int chunks = a.N / kChunk;
  for (int i = static_cast<int>(threadIdx.x); i < run.tail * chunks; i += kThreads) {
    const int row = i / chunks, column = i % chunks * kChunk;
    bf16* const du = row_of<bf16>(a.du, run.first + row, a.N) + column;
    if (row >= run.live) {
      store8_zeros(du);
      continue;
    }
    float dy[8], y[8];
    load8(dy, row_of<bf16>(a.dy, run.first + row, a.N) + column);
    load8(y, row_of<bf16>(a.y, run.first + row, a.N) + column);
#pragma unroll
    for (int j = 0; j < 8; ++j) dy[j] *= fmaf(-y[j], y[j], 1.0f);
    store8(du, dy);
  }
}

}  // namespace

void linear_tanh_forward(const LinearTanhForward& a, Stream stream) {
  check(a);
  require_bf16("linear_tanh_forward", a.dtype);
  const Gemm g{.a = a.x, .b = a.w, .P = a.N, .Q = a.K, .rows = a.rows};
  launch<linear_tanh_forward_kernel>(gemm_launch("linear_tanh_forward", g, stream), g,
                                     StoreTanh{a.y, a.b, a.N});
}

void tanh_backward(const TanhBackward& a, Stream stream) {
  check(a);
  require_bf16("tanh_backward", a.dtype);
  launch<tanh_backward_kernel>({.name = "tanh_backward",
                                .grid = dim3(static_cast<unsigned>(a.rows.rows / kRowsOfBlock)),
                                .block = dim3(kThreads),
                                .stream = stream},
                               a);
}

}  // namespace shoal::SHOAL_TARGET
