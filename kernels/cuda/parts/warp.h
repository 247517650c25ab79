// Sums over a warp, in a fixed order: the same bits in every lane.
#pragma once

#include <ptx/cuda.h>

namespace shoal::SHOAL_TARGET {

constexpr int kWarp = 32;

__device__ __forceinline__ float warp_sum(float value) {
  for (int apart = kWarp / 2; apart > 0; apart /= 2) value += __shfl_xor_sync(kFullWarp, value, apart);
  return value;
}
__device__ __forceinline__ float warp_max(float value) {
  for (int apart = kWarp / 2; apart > 0; apart /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kFullWarp, value, apart));
  }
  return value;
}

}  // namespace shoal::SHOAL_TARGET
