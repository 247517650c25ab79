// The CUDA language as the kernels use it, and how a kernel is launched. kernels/simt/ptx/ has a twin of each
// header in this folder, of the same names, for g++; a kernel includes <ptx/cuda.h> and is compiled with the
// folder of its target in front. PTX stands in this folder alone.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <mutex>
#include <type_traits>

#include "kernels/cuda/check.h"
#include "kernels/table.h"

// The shared memory of a block, one object of each kind in a kernel at most. Type is an aggregate without
// initialisers. Static: at most 48 KB. Dynamic: of the size that the launch names, at most 227 KB (sm_90),
// 163 KB (sm_80).
#define SHOAL_SHARED(Type, name) __shared__ Type name
#define SHOAL_DYNAMIC_SHARED(Type, name)                                  \
  extern __shared__ __align__(1024) unsigned char shoal_dynamic_shared[]; \
  Type& name = *reinterpret_cast<Type*>(shoal_dynamic_shared)

// What the host has made sure of; looked at on the simt device.
#define SHOAL_DEVICE_CHECK(condition) ((void)0)

namespace shoal::SHOAL_TARGET {

constexpr unsigned kFullWarp = 0xffffffffu;

struct Launch {
  const char* name = "";  // of the op, for reports
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;  // bytes of dynamic shared memory
  Stream stream;
};

// launch<kernel>({.name = .., .grid = .., ..}, args...): the args are converted to the kernel's parameters.
template <auto kKernel>
struct Launcher;
template <typename... P, void (*kKernel)(P...)>
struct Launcher<kKernel> {
  static void run(const Launch& how, P... args) {
    static std::once_flag sized;  // not inside a capture: every kernel runs once before it is captured
    if (how.shared > 0) {
      std::call_once(sized, [&] {
        SHOAL_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kKernel),
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(how.shared)));
      });
    }
    void* pointers[] = {static_cast<void*>(&args)...};
    SHOAL_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(kKernel), how.grid, how.block, pointers,
                                how.shared, static_cast<cudaStream_t>(how.stream.handle)));
  }
};
template <auto kKernel, typename... A>
void launch(const Launch& how, const A&... args) {
  Launcher<kKernel>::run(how, args...);
}

}  // namespace shoal::SHOAL_TARGET
