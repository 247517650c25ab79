// gelu(u) = u Phi(u), the erf form that BERT uses. The library's erff and no fast-math: this is the
// arithmetic whose cost is asked for.
#pragma once

namespace shoal::probe {

__device__ __forceinline__ float erf_gelu(float u) {
  return 0.5f * u * (1.0f + erff(u * 0.70710678f));
}

}  // namespace shoal::probe
