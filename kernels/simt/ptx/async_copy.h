// The twin of kernels/cuda/ptx/async_copy.h. The bytes come when they are waited for, not before.
#pragma once

#include <ptx/mma.h>

namespace shoal::simt {

inline void copy_async_16(void* shared, const void* global, bool keep = true, Site at = Site::current()) {
  start_copy_16(shared, global, keep, at);
}
inline void copy_async_commit() {
  commit_copies();
}
template <int kPending>
inline void copy_async_wait() {
  wait_for_copies(kPending);
}

}  // namespace shoal::simt
