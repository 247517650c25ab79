#include "bench/probe/gpu.h"

#include <algorithm>

namespace shoal::probe {

Card card() {
  cudaDeviceProp p{};
  PROBE_CUDA(cudaGetDeviceProperties(&p, 0));
  Card c;
  c.name = p.name;
  c.sms = p.multiProcessorCount;
  c.major = p.major;
  c.minor = p.minor;
  c.l2 = static_cast<std::size_t>(p.l2CacheSize);
  c.memory = p.totalGlobalMem;
  c.shared_per_block = p.sharedMemPerBlockOptin;
  c.shared_per_sm = p.sharedMemPerMultiprocessor;
  return c;
}

int rotated_sets(std::size_t bytes, std::size_t l2, int most) {
  const std::size_t sets = (3 * l2 + bytes - 1) / bytes + 1;
  return static_cast<int>(std::clamp<std::size_t>(sets, 2, static_cast<std::size_t>(most)));
}

}  // namespace shoal::probe
