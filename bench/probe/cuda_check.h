// Every CUDA call of the probe goes through one of these: a failure names the call and the place.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace shoal::probe {

inline void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(call) + " at " + file + ":" + std::to_string(line) + ": " +
                           cudaGetErrorName(status) + " (" + cudaGetErrorString(status) + ")");
}

}  // namespace shoal::probe

#define PROBE_CUDA(call) ::shoal::probe::check_cuda((call), #call, __FILE__, __LINE__)
// After a launch; faults inside the kernel show at the next synchronisation.
#define PROBE_LAUNCHED() PROBE_CUDA(cudaGetLastError())
