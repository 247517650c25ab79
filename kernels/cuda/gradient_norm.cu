// gradient_norm: a sum of squares for each chunk of each tensor, then their sum for each slot. The chunks of
// one tensor are summed by one warp, the tensors one after the other: chunks that a neighbour's larger
// tensors add to the table, empty here, change no order.
#include <ptx/cuda.h>

#include "kernels/checks.h"
#include "kernels/cuda/parts/params.h"
#include "kernels/cuda/parts/warp.h"

namespace shoal::SHOAL_TARGET {
namespace {

constexpr int kMaxTensors = 4096;
constexpr int kFinishThreads = 1024;

struct ChunkSums {
  float of_warp[kParamThreads / kWarp];
};
struct TensorSums {
  double of[kMaxTensors];
};

__device__ __forceinline__ void add_squares(float& sum, const float4& g) {
  sum = fmaf(g.x, g.x, sum);
  sum = fmaf(g.y, g.y, sum);
  sum = fmaf(g.z, g.z, sum);
  sum = fmaf(g.w, g.w, sum);
}

__global__ void __launch_bounds__(kParamThreads) gradient_norm_kernel_chunk(GradientNorm a) {
  SHOAL_SHARED(ChunkSums, sums);
  const int w = static_cast<int>(blockIdx.y), thread = static_cast<int>(threadIdx.x);
  if (a.update[w] == 0) return;
  const int slot = a.slot[w];
  const ParamChunk chunk = a.table.chunk[blockIdx.x];
  const int n = own_elements(a.table, chunk, slot);
  if (n <= 0) return;
  const ParamSpan span = a.table.span[chunk.tensor];
  const std::int64_t at = slot * a.stride + span.train_offset + chunk.begin;
  const bool marked = a.touched != nullptr && span.sparse != 0;
  float sum = 0;
  int i = thread * kGroup;
#pragma unroll 4
  for (; i + kGroup <= n; i += kParamThreads * kGroup) {
    const bool zeros = marked && a.touched[(at + i) / kTouchRun] == 0;
    add_squares(sum, zeros ? make_float4(0, 0, 0, 0) : load_group(a.grad + at + i, kGroup));
  }
  if (i < n && !(marked && a.touched[(at + i) / kTouchRun] == 0)) {
    add_squares(sum, load_group(a.grad + at + i, n - i));
  }
  sum = warp_sum(sum);
  if (thread % kWarp == 0) sums.of_warp[thread / kWarp] = sum;
  __syncthreads();
  if (thread != 0) return;
  float total = 0;
  for (const float part : sums.of_warp) total += part;
  a.partial[static_cast<std::int64_t>(w) * a.table.chunks + blockIdx.x] = total;
}

// The sum of the own chunks of the tensor that begins at chunk `first`: the same in all lanes.
__device__ double tensor_sum(const GradientNorm& a, int w, int slot, int first, int lane) {
  const std::int64_t own =
      a.table.own[static_cast<std::int64_t>(slot) * a.table.tensors + a.table.chunk[first].tensor];
  const int chunks = static_cast<int>((own + kParamChunk - 1) / kParamChunk);
  const float* const partial = a.partial + static_cast<std::int64_t>(w) * a.table.chunks + first;
  double sum = 0;
#pragma unroll 4
  for (int c = lane; c < chunks; c += kWarp) sum += static_cast<double>(partial[c]);
  __syncwarp();
  for (int apart = kWarp / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(kFullWarp, sum, apart);
  return sum;
}

__global__ void __launch_bounds__(kFinishThreads) gradient_norm_kernel_finish(GradientNorm a) {
  SHOAL_SHARED(TensorSums, sums);
  const int w = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x), lane = thread % kWarp;
  if (a.update[w] == 0) return;
  const int slot = a.slot[w];
  for (int t = thread; t < a.table.tensors; t += kFinishThreads) sums.of[t] = 0;
  __syncthreads();
  for (int base = thread / kWarp * kWarp; base < a.table.chunks; base += kFinishThreads) {
    const int c = base + lane;
    unsigned starts = __ballot_sync(kFullWarp, c < a.table.chunks && a.table.chunk[c].begin == 0);
    for (; starts != 0; starts &= starts - 1) {
      const int first = base + __ffs(static_cast<int>(starts)) - 1;
      const double sum = tensor_sum(a, w, slot, first, lane);
      if (lane == 0) sums.of[a.table.chunk[first].tensor] = sum;
    }
  }
  __syncthreads();
  if (thread != 0) return;
  double sum = 0;
  for (int t = 0; t < a.table.tensors; ++t) sum += sums.of[t];
  const float norm = static_cast<float>(sqrt(sum));
  const bool finite = isfinite(norm);
  a.norm[w] = norm;
  a.nonfinite[w] = finite && (a.loss == nullptr || isfinite(a.loss[w])) ? 0 : 1;
  a.coef[w] = finite && a.max_norm[w] > 0 ? fminf(1.0f, a.max_norm[w] / (norm + 1e-6f)) : 1.0f;
}

}  // namespace

void gradient_norm(const GradientNorm& a, Stream stream) {
  check(a);
  Need("gradient_norm").between("table.tensors", a.table.tensors, 1, kMaxTensors);
  launch<gradient_norm_kernel_chunk>(
      {.name = "gradient_norm",
       .grid = dim3(static_cast<unsigned>(a.table.chunks), static_cast<unsigned>(a.W)),
       .block = dim3(kParamThreads),
       .stream = stream},
      a);
  launch<gradient_norm_kernel_finish>({.name = "gradient_norm",
                                       .grid = dim3(static_cast<unsigned>(a.W)),
                                       .block = dim3(kFinishThreads),
                                       .stream = stream},
                                      a);
}

}  // namespace shoal::SHOAL_TARGET
