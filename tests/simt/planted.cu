#include <ptx/async_copy.h>

#include "kernels/cuda/parts/warp.h"
#include "tests/simt/planted.h"

namespace shoal::SHOAL_TARGET {
namespace {

using test::Plant;
using test::PlantedArgs;

struct alignas(128) Memory {
  float value[kWarp * 8];
  float row[2][kWarp * 4];
  float tail[128];
};
struct Other {
  float value[16];
};

__device__ void barriers(Plant plant, int i) {
  if (plant == Plant::kBarrierAtTwoPlaces) {
    if (i < 64) {
      __syncthreads();
    } else {
      __syncthreads();
    }
  }
  if (plant == Plant::kBarrierAfterAnEnd && i == 5) return;
  if (plant == Plant::kBarrierHalfReached && i >= 64) {
    __syncwarp();
    __shfl_sync(kFullWarp, 1.0f, 0);
    for (int turn = 0; turn < 2; ++turn) __syncthreads();
  }
  __syncthreads();
}

__device__ float collectives(Plant plant, int lane) {
  float x = static_cast<float>(lane);
  if (plant == Plant::kShuffleHalfReached && lane < 16) return __shfl_sync(kFullWarp, x, 3);
  if (plant == Plant::kShuffleHalfReached) return 0;
  if (plant == Plant::kShuffleAtTwoPlaces) {
    return lane < 16 ? __shfl_sync(kFullWarp, x, 3) : __shfl_xor_sync(kFullWarp, x, 1);
  }
  if (plant == Plant::kShuffleOutsideOfItsMask) return __shfl_sync(0x0000ffffu, x, 3);
  if (plant == Plant::kShuffleFromOutsideOfItsMask) {
    return lane < 16 ? __shfl_sync(0x0000ffffu, x, 20) : __shfl_sync(0xffff0000u, x, 20);
  }
  if (plant == Plant::kMmaHalfReached && lane % 2 == 0) return 0;
  const std::uint32_t a[4] = {};
  float d[4] = {};
  mma_m16n8k16(d, a, 0, 0);
  // Halves of a warp by themselves are allowed.
  x = lane < 16 ? __shfl_sync(0x0000ffffu, x, 3) : __shfl_sync(0xffff0000u, x, 20);
  return x + d[0];
}

// The sum of the warp's values by its own part of shared memory.
__device__ float reduction(Plant plant, Memory& m, int i, float x) {
  m.value[i] = 0;
  __syncwarp();
  m.value[i] = x;
  for (int apart = kWarp / 2; apart > 0; apart /= 2) {
    if (plant != Plant::kReductionWithoutSyncwarp) __syncwarp();
    const float other = m.value[i ^ apart];
    if (plant != Plant::kReductionWithoutSyncwarp) __syncwarp();
    m.value[i] += other;
  }
  return m.value[i];
}

__device__ float sharing(Plant plant, Memory& m, int i) {
  float* const row = m.row[0];
  if (plant != Plant::kReadUnwritten || i != 7) row[i] = static_cast<float>(i);
  if (plant != Plant::kReadWithoutBarrier) __syncthreads();
  const float next = row[(i + 33) % test::kPlantedThreads];
  if (plant != Plant::kOverwriteWithoutBarrier) __syncthreads();
  row[i] = next;
  if (plant == Plant::kBeyondShared) m.tail[i == 3 ? 128 : i] = 1;
  if (plant == Plant::kTwoStaticObjects) {
    SHOAL_SHARED(Other, other);
    other.value[0] = 1;
  }
  __syncthreads();
  return next;
}

__device__ float copies(const PlantedArgs& a, Memory& m, int i) {
  const int offset = i % 32 * 4;
  if (i < 32) {
    const float* const from = a.plant == Plant::kCopyMisaligned      ? a.in + offset + 1
                              : a.plant == Plant::kCopyNotFromDevice ? a.host + offset
                                                                     : a.in + offset;
    copy_async_16(&m.row[0][offset], from);
    copy_async_commit();
    copy_async_16(&m.row[1][offset], a.in + offset, false);
    copy_async_commit();
    if (a.plant == Plant::kWriteOverACopy) m.row[1][offset] = 1;
    if (a.plant == Plant::kWaitTooWeak) {
      copy_async_wait<2>();
    } else {
      copy_async_wait<1>();
    }
  }
  if (a.plant != Plant::kNoBarrierAfterWait) __syncthreads();
  const float got = m.row[0][(i * 4 + 5) % 128];
  if (a.plant != Plant::kCopyOverARead) __syncthreads();
  if (i < 32) {
    copy_async_16(&m.row[0][offset], a.in + offset);
    copy_async_commit();
    if (a.plant != Plant::kCopyLeftInFlight) copy_async_wait<0>();
  }
  return got + (i < 32 && a.plant != Plant::kCopyLeftInFlight ? m.row[1][offset] : 0.0f);
}

__device__ float matrices(Plant plant, Memory& m, const float* outside, int lane) {
  std::uint32_t r[4];
  const char* row = reinterpret_cast<const char*>(m.row[0]) + lane * 16;
  if (plant == Plant::kMatrixMisaligned) row += 8;
  if (plant == Plant::kMatrixNotShared) row = reinterpret_cast<const char*>(outside) + lane * 16;
  ldmatrix_x4(r, row);
  return __uint_as_float(r[0]);
}

__device__ void device_memory(const PlantedArgs& a, int block, int i, float x) {
  const int at = block * test::kPlantedThreads + i;
  if (a.plant == Plant::kReadBeyond && i == 100) x += a.in[512];
  if (a.plant == Plant::kReadBefore && i == 100) x += a.in[-1];
  if (a.plant == Plant::kWriteBeyond && i == 100) a.out[512] = x;
  if (a.plant == Plant::kReadHost) x += a.host[i];
  if (a.plant == Plant::kWriteArgument) const_cast<float*>(a.host)[i] = x;
  if (a.plant == Plant::kBlocksWriteTheSame) a.out[i] = 1;
  if (a.plant == Plant::kBlockReadsAnothersWrite && block == 1) x += a.out[i];
  SHOAL_DEVICE_CHECK(a.plant != Plant::kDeviceCheck || i != 77);
  if (a.plant == Plant::kLastThreadWins) {
    a.out[block * test::kPlantedThreads] = x + static_cast<float>(i);
  } else {
    a.out[at] = x;
  }
}

__global__ void planted_kernel(PlantedArgs a) {
  SHOAL_SHARED(Memory, m);
  const int i = static_cast<int>(threadIdx.x), lane = i % kWarp;
  if (a.plant == Plant::kBarrierAfterAnEnd && i == 5) return;
  barriers(a.plant, i);
  float x = collectives(a.plant, lane);
  x += reduction(a.plant, m, i, a.in[i]);
  __syncthreads();
  x += sharing(a.plant, m, i);
  x += copies(a, m, i);
  __syncthreads();
  if (a.plant != Plant::kCopyLeftInFlight) x += matrices(a.plant, m, a.in, lane);
  device_memory(a, static_cast<int>(blockIdx.x), i, x);
}

}  // namespace

void run_planted(const PlantedArgs& a, Stream stream) {
  launch<planted_kernel>(
      {.name = "planted", .grid = test::kPlantedBlocks, .block = test::kPlantedThreads, .stream = stream}, a);
}

}  // namespace shoal::SHOAL_TARGET

void shoal::test::run_planted(const PlantedArgs& args, Stream stream) {
  SHOAL_TARGET::run_planted(args, stream);
}
