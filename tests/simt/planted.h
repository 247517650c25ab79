// Kernels with one planted bug each, and their right twins, for the detectors of the simt device.
#pragma once

#include "kernels/table.h"

namespace shoal::test {

enum class Plant {
  kNothing,  // all of what follows, done right
  // Barriers
  kBarrierAtTwoPlaces,
  kBarrierAfterAnEnd,
  kBarrierHalfReached,
  // Collectives of a warp
  kShuffleHalfReached,
  kShuffleAtTwoPlaces,
  kShuffleOutsideOfItsMask,
  kShuffleFromOutsideOfItsMask,
  kMmaHalfReached,
  // Shared memory
  kReductionWithoutSyncwarp,
  kReadWithoutBarrier,
  kOverwriteWithoutBarrier,
  kReadUnwritten,
  kBeyondShared,
  kTwoStaticObjects,
  // cp.async
  kWaitTooWeak,
  kNoBarrierAfterWait,
  kCopyOverARead,
  kWriteOverACopy,
  kCopyLeftInFlight,
  kCopyMisaligned,
  kCopyNotFromDevice,
  // ldmatrix
  kMatrixMisaligned,
  kMatrixNotShared,
  // Device memory
  kReadBeyond,
  kReadBefore,
  kWriteBeyond,
  kReadHost,
  kWriteArgument,
  kBlocksWriteTheSame,
  kBlockReadsAnothersWrite,
  kDeviceCheck,
  // Nothing but the order of threads decides
  kLastThreadWins,
};

struct PlantedArgs {
  Plant plant = Plant::kNothing;
  float* out = nullptr;       // [512]
  const float* in = nullptr;  // [512]
  const float* host = nullptr;
};

constexpr int kPlantedBlocks = 2, kPlantedThreads = 128;

void run_planted(const PlantedArgs& args, Stream stream);

}  // namespace shoal::test
