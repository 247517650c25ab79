// SHOAL_CUDA(call): an Error naming the call, its place and CUDA's name of the error, where a CUDA call
// fails. A sticky error is cleared, so that the next call does not report it again.
#pragma once

#include <cuda_runtime_api.h>

namespace shoal::cuda {

[[noreturn]] void fail_cuda(const char* expression, const char* file, int line, cudaError_t error);

inline void check_cuda(cudaError_t error, const char* expression, const char* file, int line) {
  if (error != cudaSuccess) fail_cuda(expression, file, line, error);
}

}  // namespace shoal::cuda

#define SHOAL_CUDA(call) ::shoal::cuda::check_cuda((call), #call, __FILE__, __LINE__)
