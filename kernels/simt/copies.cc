// cp.async. The bytes arrive when their group has been waited for: a wait that is too weak finds none.
#include <cstring>

#include "kernels/base/error.h"
#include "kernels/simt/access.h"
#include "kernels/simt/memory.h"
#include "kernels/simt/run.h"
#include "kernels/simt/shared.h"

namespace shoal::simt {
namespace {

constexpr std::size_t kCopyBytes = 16;

bool aligned(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % kCopyBytes == 0;
}

}  // namespace

void start_copy_16(void* shared, const void* global, bool keep, Site site) {
  if (!shared_memory().contains(shared)) fault_at("cp.async to outside of shared memory", site);
  if (!in_arena(global)) fault_at("cp.async from outside of device memory", site);
  if (!aligned(shared) || !aligned(global))
    fault_at("cp.async of an address that is not a multiple of 16", site);
  if (keep) {
    read_global(global, kCopyBytes);
  } else if (!in_one_block(global, kCopyBytes)) {
    fault_at("cp.async of zeros, from an address that is not valid", site);
  }
  shared_memory().begin_copy(shared, kCopyBytes);
  self->copies.push_back({shared, keep ? global : nullptr});
  ++self->uncommitted;
}

void commit_copies() {
  self->group_sizes.push_back(self->uncommitted);
  self->uncommitted = 0;
}

void wait_for_copies(int pending_groups) {
  Thread& t = *self;
  const std::size_t groups = t.group_sizes.size();
  const std::size_t done = groups > static_cast<std::size_t>(pending_groups)
                               ? groups - static_cast<std::size_t>(pending_groups)
                               : 0;
  std::size_t count = 0;
  for (std::size_t g = 0; g < done; ++g) count += static_cast<std::size_t>(t.group_sizes[g]);
  for (std::size_t i = 0; i < count; ++i) {
    const Copy& copy = t.copies[i];
    if (copy.global == nullptr) {
      std::memset(copy.shared, 0, kCopyBytes);
    } else {
      std::memcpy(copy.shared, copy.global, kCopyBytes);
    }
    shared_memory().end_copy(copy.shared, kCopyBytes);
  }
  t.copies.erase(t.copies.begin(), t.copies.begin() + static_cast<std::ptrdiff_t>(count));
  t.group_sizes.erase(t.group_sizes.begin(), t.group_sizes.begin() + static_cast<std::ptrdiff_t>(done));
}

}  // namespace shoal::simt
