// A CUDA run-time without a GPU, in place of NVIDIA's: it keeps books, and nothing runs. Device memory is a
// range of addresses that nobody may touch; kernels are launched on paper, and refused where a card would
// refuse them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

namespace shoal::test {

struct FakeLaunch {
  std::string kernel;  // mangled
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;  // dynamic
};

// The machine, as a test wants it.
struct FakeMachine {
  int driver = CUDART_VERSION;  // 0: none
  cudaError_t count_error = cudaSuccess;
  int cards = 1;
  int major = 9;
  std::size_t memory = std::size_t{141} << 30;
  std::size_t used = 0;
  std::vector<FakeLaunch> launches;
  std::vector<std::string> calls;        // of streams, events and graphs
  cudaError_t next_error = cudaSuccess;  // of the next call among those
  cudaError_t last_error = cudaSuccess;
};
FakeMachine& fake_machine();

}  // namespace shoal::test
