// ceilings.h by wgmma: two warpgroups an SM, each with 64 x 256 outputs, operands in shared memory.
// Half a tile apart is kept by two named barriers that hand the tensor cores over (CUTLASS calls it
// ping-pong).
#include <cuda_bf16.h>

#include "bench/probe/ceilings.h"
#include "bench/probe/cuda_check.h"
#include "bench/probe/erf_gelu.cuh"
#include "bench/probe/ptx.cuh"

namespace shoal::probe {
namespace {

constexpr int kThreads = 256;
constexpr int kRowBytes = 128;                          // 64 bf16
constexpr int kRows = 2 * 64 + 256;                     // a of either warpgroup, then b
constexpr int kSharedBytes = kRows * kRowBytes + 1024;  // and the slack of the alignment
constexpr int kStepsInShared = 4;                       // k64 lies in shared memory and is read again
static_assert(kTileSteps % kStepsInShared == 0);
static_assert(kRows * kRowBytes / 4 <= kCeilingWords);

#ifdef SHOAL_PROBE_WGMMA
template <TileEnd kEnd>
__device__ std::uint32_t consume(float (&acc)[128]) {
  std::uint32_t folded = 0;
#pragma unroll
  for (int v = 0; v < 128; ++v) {
    float u = __bfloat162float(__float2bfloat16_rn(acc[v] * 0.036f));  // as in mma_sync_tiles.cu
    if (kEnd == TileEnd::kGelu) u = erf_gelu(u);
    folded = folded * 3 + __float_as_uint(u);
  }
  return folded;
}

// One tile's products; the first step overwrites unless `keep`, so that no zeros need to be stored.
__device__ __forceinline__ void multiply(float (&acc)[128], std::uint32_t a, std::uint32_t b, bool keep) {
#pragma unroll 1
  for (int block = 0; block < kTileSteps / kStepsInShared; ++block) {
    ptx::wgmma_fence();
#pragma unroll
    for (int k = 0; k < kStepsInShared; ++k) {
      ptx::wgmma_m64n256k16(acc, ptx::swizzled_tile(a + k * 32), ptx::swizzled_tile(b + k * 32),
                            keep || block + k > 0);
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<1>();  // the next four start while the last of these drain
  }
  ptx::wgmma_wait<0>();
}
#endif

template <TileEnd kEnd, bool kTogether>
__global__ void __launch_bounds__(kThreads, 1) tiles_kernel(CeilingRun run) {
#ifdef SHOAL_PROBE_WGMMA
  extern __shared__ unsigned char raw[];
  const std::uint64_t cycles = clock64(), nanoseconds = ptx::global_nanoseconds();
  unsigned char* shared = raw + (1024 - ptx::shared_address(raw) % 1024) % 1024;
  for (int i = threadIdx.x; i < kRows * kRowBytes / 4; i += kThreads) {
    reinterpret_cast<std::uint32_t*>(shared)[i] = run.data[i];
  }
  ptx::fence_shared_to_async();
  __syncthreads();
  const int group = static_cast<int>(threadIdx.x) / 128;
  const std::uint32_t a = ptx::shared_address(shared) + group * 64 * kRowBytes;
  const std::uint32_t b = ptx::shared_address(shared) + 128 * kRowBytes;
  float acc[128] = {};
  std::uint32_t folded = 0;
  constexpr bool kHandOver = kEnd != TileEnd::kNone && !kTogether;
  if (kHandOver && group == 1) ptx::named_barrier_arrive(1, kThreads);
  for (int tile = 0; tile < run.tiles; ++tile) {
    if (kHandOver) ptx::named_barrier_sync(1 + group, kThreads);
    multiply(acc, a, b, kEnd == TileEnd::kNone);
    // The last arrival of the second warpgroup would have nobody to wait for it.
    if (kHandOver && !(group == 1 && tile == run.tiles - 1)) ptx::named_barrier_arrive(2 - group, kThreads);
    if (kTogether) __syncthreads();
    if (kEnd != TileEnd::kNone) folded ^= consume<kEnd>(acc);
    if (kTogether) __syncthreads();
  }
  if (kEnd == TileEnd::kNone) folded ^= consume<TileEnd::kSum>(acc);
  run.out[blockIdx.x * blockDim.x + threadIdx.x] = folded;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    run.clocks[0] = clock64() - cycles;
    run.clocks[1] = ptx::global_nanoseconds() - nanoseconds;
  }
#endif
}

template <TileEnd kEnd>
void launch(const CeilingRun& run, cudaStream_t stream) {
  const auto kernel = run.together ? tiles_kernel<kEnd, true> : tiles_kernel<kEnd, false>;
  PROBE_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  kernel<<<run.sms, kThreads, kSharedBytes, stream>>>(run);
  PROBE_LAUNCHED();
}

}  // namespace

void run_wgmma_tiles(const CeilingRun& run, cudaStream_t stream) {
  switch (run.end) {
    case TileEnd::kNone:
      return launch<TileEnd::kNone>(run, stream);
    case TileEnd::kSum:
      return launch<TileEnd::kSum>(run, stream);
    case TileEnd::kGelu:
      return launch<TileEnd::kGelu>(run, stream);
  }
}

double wgmma_flops(const CeilingRun& run) {
  return 2.0 * 64 * 256 * 16 * kTileSteps * run.tiles * 2 * run.sms;
}

}  // namespace shoal::probe
