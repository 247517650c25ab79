// ceilings.h by mma.sync: eight warps an SM, each with 64 x 64 outputs in registers.
#include <cuda_bf16.h>

#include "bench/probe/ceilings.h"
#include "bench/probe/cuda_check.h"
#include "bench/probe/erf_gelu.cuh"
#include "bench/probe/ptx.cuh"

namespace shoal::probe {
namespace {

constexpr int kWarps = 8;
constexpr int kMTiles = 4, kNTiles = 8;  // of 16 x 8 outputs a warp

template <TileEnd kEnd>
__device__ std::uint32_t consume(float (&acc)[kMTiles][kNTiles][4]) {
  std::uint32_t folded = 0;
#pragma unroll
  for (int m = 0; m < kMTiles; ++m) {
#pragma unroll
    for (int n = 0; n < kNTiles; ++n) {
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        // Rounded first, as the contract says; a dot product of 768 normal pairs is scaled back to about 1.
        float u = __bfloat162float(__float2bfloat16_rn(acc[m][n][v] * 0.036f));
        if (kEnd == TileEnd::kGelu) u = erf_gelu(u);
        folded = folded * 3 + __float_as_uint(u);
        acc[m][n][v] = 0;
      }
    }
  }
  return folded;
}

template <TileEnd kEnd, bool kTogether>
__global__ void __launch_bounds__(kWarps * 32, 1) tiles_kernel(CeilingRun run) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::uint64_t cycles = clock64(), nanoseconds = ptx::global_nanoseconds();
  std::uint32_t a[kMTiles][4], b[kNTiles][2];
  const std::uint32_t* data = run.data + threadIdx.x * (kMTiles * 4 + kNTiles * 2);
#pragma unroll
  for (int i = 0; i < kMTiles * 4; ++i) a[i / 4][i % 4] = data[i];
#pragma unroll
  for (int i = 0; i < kNTiles * 2; ++i) b[i / 2][i % 2] = data[kMTiles * 4 + i];
  float acc[kMTiles][kNTiles][4] = {};
  std::uint32_t folded = 0;
  // The second half of the warps starts half a tile ahead, unless all are to end together.
  int step = !kTogether && warp >= kWarps / 2 ? kTileSteps / 2 : 0;
  for (int tile = 0; tile < run.tiles; ++tile) {
    for (; step < kTileSteps; ++step) {
#pragma unroll
      for (int m = 0; m < kMTiles; ++m) {
#pragma unroll
        for (int n = 0; n < kNTiles; ++n) ptx::mma_m16n8k16(acc[m][n], a[m], b[n][0], b[n][1]);
      }
    }
    step = 0;
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
}

template <TileEnd kEnd>
void launch(const CeilingRun& run, cudaStream_t stream) {
  const auto kernel = run.together ? tiles_kernel<kEnd, true> : tiles_kernel<kEnd, false>;
  kernel<<<run.sms, kWarps * 32, 0, stream>>>(run);
  PROBE_LAUNCHED();
}

}  // namespace

void run_mma_sync_tiles(const CeilingRun& run, cudaStream_t stream) {
  static_assert(kWarps * 32 * (kMTiles * 4 + kNTiles * 2) <= kCeilingWords);
  switch (run.end) {
    case TileEnd::kNone:
      return launch<TileEnd::kNone>(run, stream);
    case TileEnd::kSum:
      return launch<TileEnd::kSum>(run, stream);
    case TileEnd::kGelu:
      return launch<TileEnd::kGelu>(run, stream);
  }
}

double mma_sync_flops(const CeilingRun& run) {
  const double tiles = run.together ? run.tiles : run.tiles - 0.25;  // half the warps skip half a tile once
  return 2.0 * (kMTiles * 16) * (kNTiles * 8) * 16 * kTileSteps * tiles * kWarps * run.sms;
}

}  // namespace shoal::probe
