// cp.async: 16 bytes from global to shared memory, past the registers. What a thread has copied may be read
// by itself after copy_async_wait, by others after a barrier that follows it.
#pragma once

#include <ptx/mma.h>

namespace shoal::SHOAL_TARGET {

// keep = false fills with zeros; `global` must be a valid address all the same, and is not read.
__device__ __forceinline__ void copy_async_16(void* shared, const void* global, bool keep = true) {
  const int bytes = keep ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared_address(shared)), "l"(global),
               "r"(bytes)
               : "memory");
}
// Ends a group, perhaps an empty one.
__device__ __forceinline__ void copy_async_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}
// Waits until at most kPending of this thread's groups are not done.
template <int kPending>
__device__ __forceinline__ void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kPending) : "memory");
}

}  // namespace shoal::SHOAL_TARGET
