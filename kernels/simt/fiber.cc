#include "kernels/simt/fiber.h"

#include <sys/mman.h>

#include "kernels/base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace shoal::simt {
namespace {

namespace context = boost::context::detail;

constexpr std::size_t kGuard = 4096;
// The tops of the stacks, all in use, must not meet in the same sets of the cache.
constexpr std::size_t kStagger = 832, kStaggerRange = 16384;
constexpr std::size_t kStride = kGuard + kStaggerRange + kStackBytes;

}  // namespace

constinit thread_local FiberHome fiber_home;

Stacks::Stacks(int count) : bytes_(static_cast<std::size_t>(count) * kStride) {
  void* const p =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(p != MAP_FAILED, "simt: {} bytes for the stacks of a block are not to be had", bytes_);
  memory_ = static_cast<std::byte*>(p);
  for (std::size_t at = 0; at < bytes_; at += kStride) mprotect(memory_ + at, kGuard, PROT_NONE);
}
Stacks::~Stacks() {
  munmap(memory_, bytes_);
}
std::byte* Stacks::bottom(int i) const {
  const std::size_t n = static_cast<std::size_t>(i);
  return memory_ + n * kStride + kGuard + n * kStagger % kStaggerRange;
}

void Fiber::start(std::byte* stack_bottom, void (*entry)()) {
  bottom_ = stack_bottom;
  entry_ = entry;
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(bottom_, kStackBytes);
#endif
  place_ = context::make_fcontext(bottom_ + kStackBytes, kStackBytes, &Fiber::enter);
}

void Fiber::enter(context::transfer_t from) {
  fiber_home.place = from.fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &fiber_home.bottom, &fiber_home.size);
#endif
  static_cast<Fiber*>(from.data)->entry_();
  yield(true);
}

}  // namespace shoal::simt
