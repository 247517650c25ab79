// A fiber: a stack of its own and a place to go on from. Boost.Context switches, AddressSanitizer is told.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace shoal::simt {

constexpr std::size_t kStackBytes = 128 * 1024;

// Memory for the stacks of `count` fibers, a page that faults below each.
class Stacks {
 public:
  explicit Stacks(int count);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  std::byte* bottom(int i) const;

 private:
  std::byte* memory_;
  std::size_t bytes_;
};

// The scheduler that a running fiber goes back to.
struct FiberHome {
  boost::context::detail::fcontext_t place = nullptr;
  const void* bottom = nullptr;  // of its stack, for AddressSanitizer
  std::size_t size = 0;
};
extern constinit thread_local FiberHome fiber_home;

class Fiber {
 public:
  // Goes to `entry` at the next resume(). Whatever ran on the stack before is forgotten.
  void start(std::byte* stack_bottom, void (*entry)());
  // Of the scheduler: runs the fiber until it yields.
  void resume();
  // Of the fiber: back to the scheduler. A fiber that has ended yields for the last time.
  static void yield(bool ended = false);

  bool on_stack(const void* p) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(p) - bottom_) < kStackBytes;
  }

 private:
  static void enter(boost::context::detail::transfer_t from);

  boost::context::detail::fcontext_t place_ = nullptr;
  std::byte* bottom_ = nullptr;
  void (*entry_)() = nullptr;
};

// Inline: every return that follows a switch is one that the processor guesses wrong.
inline void Fiber::resume() {
#if defined(__SANITIZE_ADDRESS__)
  void* own = nullptr;
  __sanitizer_start_switch_fiber(&own, bottom_, kStackBytes);
  place_ = boost::context::detail::jump_fcontext(place_, this).fctx;
  __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
#else
  place_ = boost::context::detail::jump_fcontext(place_, this).fctx;
#endif
}

inline void Fiber::yield([[maybe_unused]] bool ended) {
#if defined(__SANITIZE_ADDRESS__)
  void* own = nullptr;
  __sanitizer_start_switch_fiber(ended ? nullptr : &own, fiber_home.bottom, fiber_home.size);
  fiber_home.place = boost::context::detail::jump_fcontext(fiber_home.place, nullptr).fctx;
  __sanitizer_finish_switch_fiber(own, &fiber_home.bottom, &fiber_home.size);
#else
  fiber_home.place = boost::context::detail::jump_fcontext(fiber_home.place, nullptr).fctx;
#endif
}

}  // namespace shoal::simt
