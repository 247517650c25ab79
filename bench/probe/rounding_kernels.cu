#include "bench/probe/cuda_check.h"
#include "bench/probe/ptx.cuh"
#include "bench/probe/rounding_kernels.h"

namespace shoal::probe {
namespace {

// One warp for 16 x 8 outputs; fragments straight from device memory (CUDA_NOTES 3.1).
__global__ void __launch_bounds__(32) mma_sync_kernel(RoundingProblems p) {
  const int lane = static_cast<int>(threadIdx.x), g = lane >> 2, t = lane & 3;
  const std::int64_t row = std::int64_t{blockIdx.z} * kProblemRows + blockIdx.y * 16 + g;
  const int column = static_cast<int>(blockIdx.x) * 8;
  const auto pair = [](const std::uint16_t* at) { return *reinterpret_cast<const std::uint32_t*>(at); };
  const std::uint16_t* a = p.a + row * p.K + 2 * t;
  const std::uint16_t* b = p.b + (std::int64_t{blockIdx.z} * kProblemColumns + column + g) * p.K + 2 * t;
  const std::int64_t at = row * kProblemColumns + column + 2 * t, below = at + 8 * kProblemColumns;
  float d[4] = {p.c[at], p.c[at + 1], p.c[below], p.c[below + 1]};
  for (int k = 0; k < p.K; k += 16) {
    const std::uint32_t fragment[4] = {pair(a + k), pair(a + 8 * std::int64_t{p.K} + k), pair(a + k + 8),
                                       pair(a + 8 * std::int64_t{p.K} + k + 8)};
    ptx::mma_m16n8k16(d, fragment, pair(b + k), pair(b + k + 8));
  }
  p.d[at] = d[0];
  p.d[at + 1] = d[1];
  p.d[below] = d[2];
  p.d[below + 1] = d[3];
}

constexpr int kRowBytes = 128, kRows = kProblemRows + kProblemColumns;
constexpr int kSharedBytes = kRows * kRowBytes + 1024;

// One warpgroup for a whole problem; 64 columns of k at a time in swizzled shared memory.
__global__ void __launch_bounds__(128, 1) wgmma_kernel(RoundingProblems p) {
#ifdef SHOAL_PROBE_WGMMA
  extern __shared__ unsigned char raw[];
  unsigned char* shared = raw + (1024 - ptx::shared_address(raw) % 1024) % 1024;
  const std::uint32_t a = ptx::shared_address(shared), b = a + kProblemRows * kRowBytes;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t first =
      (std::int64_t{blockIdx.x} * kProblemRows + warp * 16 + (lane >> 2)) * kProblemColumns + (lane & 3) * 2;
  float d[128];
#pragma unroll
  for (int v = 0; v < 128; ++v)
    d[v] = p.c[first + (v >> 1 & 1) * 8 * kProblemColumns + (v >> 2) * 8 + (v & 1)];
  for (int k0 = 0; k0 < p.K; k0 += 64) {
    const int chunks = min(64, p.K - k0) / 8;
    __syncthreads();  // the products of the last round have read
    for (int i = static_cast<int>(threadIdx.x); i < kRows * chunks; i += 128) {
      const int row = i / chunks, chunk = i % chunks;
      const bool of_a = row < kProblemRows;
      const std::int64_t source = of_a ? std::int64_t{blockIdx.x} * kProblemRows + row
                                       : std::int64_t{blockIdx.x} * kProblemColumns + row - kProblemRows;
      // b starts at a whole number of eight rows, so that its swizzle is that of the joint row number.
      *reinterpret_cast<uint4*>(shared + row * kRowBytes + ((chunk ^ (row & 7)) * 16)) =
          *reinterpret_cast<const uint4*>((of_a ? p.a : p.b) + source * p.K + k0 + chunk * 8);
    }
    ptx::fence_shared_to_async();
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < chunks / 2; ++k) {  // one at a time: its bits are asked for, not its speed
      ptx::wgmma_fence();
      ptx::wgmma_m64n256k16(d, ptx::swizzled_tile(a + k * 32), ptx::swizzled_tile(b + k * 32), true);
      ptx::wgmma_commit();
      ptx::wgmma_wait<0>();
    }
  }
#pragma unroll
  for (int v = 0; v < 128; ++v)
    p.d[first + (v >> 1 & 1) * 8 * kProblemColumns + (v >> 2) * 8 + (v & 1)] = d[v];
#endif
}

}  // namespace

void multiply_by_mma_sync(const RoundingProblems& p, cudaStream_t stream) {
  const dim3 grid(kProblemColumns / 8, kProblemRows / 16, static_cast<unsigned>(p.problems));
  mma_sync_kernel<<<grid, 32, 0, stream>>>(p);
  PROBE_LAUNCHED();
}

void multiply_by_wgmma(const RoundingProblems& p, cudaStream_t stream) {
  PROBE_CUDA(cudaFuncSetAttribute(wgmma_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  wgmma_kernel<<<static_cast<unsigned>(p.problems), 128, kSharedBytes, stream>>>(p);
  PROBE_LAUNCHED();
}

}  // namespace shoal::probe
