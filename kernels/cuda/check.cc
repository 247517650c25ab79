#include "kernels/cuda/check.h"

#include <string_view>

#include "kernels/base/error.h"

namespace shoal::cuda {

void fail_cuda(const char* expression, const char* file, int line, cudaError_t error) {
  cudaGetLastError();
  const std::string_view path = file;
  fail("cuda: {} at {}:{}: {}: {}", expression, path.substr(path.rfind('/') + 1), line,
       cudaGetErrorName(error), cudaGetErrorString(error));
}

}  // namespace shoal::cuda
