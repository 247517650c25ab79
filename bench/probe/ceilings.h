// Tensor-core loops without device memory: as fast as the instruction goes, and with a tile's GELU between.
// A tile is a dot product of K = 768, so 48 steps of k16; then the accumulators are consumed by an epilogue.
//   kNone  they run on, no epilogue at all (the ceiling)
//   kSum   each is rounded to bf16 and folded into one word (what keeps them alive)
//   kGelu  the same after erf-GELU
// together: all warps of an SM reach the epilogue at the same time, so that nothing multiplies meanwhile.
// Otherwise two halves are half a tile apart: one multiplies while the other is in its epilogue.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace shoal::probe {

enum class TileEnd { kNone, kSum, kGelu };

struct CeilingRun {
  TileEnd end = TileEnd::kNone;
  bool together = false;
  int tiles = 0;  // of each warp (mma.sync) or warpgroup (wgmma)
  int sms = 0;
  const std::uint32_t* data = nullptr;  // random bf16 pairs, kCeilingWords of them
  std::uint32_t* out = nullptr;         // one word a thread
  std::uint64_t* clocks = nullptr;      // [2]: cycles and nanoseconds that block 0 took
};
constexpr int kCeilingWords = 1 << 14;
constexpr int kTileSteps = 768 / 16;

void run_mma_sync_tiles(const CeilingRun& run, cudaStream_t stream);
void run_wgmma_tiles(const CeilingRun& run, cudaStream_t stream);  // compute 9.0 only
// Floating-point operations of one launch.
double mma_sync_flops(const CeilingRun& run);
double wgmma_flops(const CeilingRun& run);

}  // namespace shoal::probe
