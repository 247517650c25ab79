// The state of a launch in progress: its threads, its warps, and who runs now. Private to the executor.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/simt/block.h"
#include "kernels/simt/fiber.h"

namespace shoal::simt {

constexpr int kWarpLanes = 32;
constexpr int kMaxThreads = 1024;

// Numbers that look random, cheaply: splitmix64 of Steele, Lea and Flood (OOPSLA 2014).
class Order {
 public:
  explicit Order(std::uint64_t seed = 0) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((next() >> 32) * n >> 32); }
  template <typename T>
  void shuffle(T* first, std::size_t n) {
    for (std::size_t i = n; i > 1; --i) std::swap(first[i - 1], first[below(i)]);
  }

 private:
  std::uint64_t state_;
};

struct Copy {
  void* shared;
  const void* global;  // null: zeros
};

struct Thread {
  enum class Doing : std::uint8_t { kReady, kAtBarrier, kInCollective, kEnded };

  Fiber fiber;
  uint3 index{};
  int id = 0;
  int lane = 0;
  int warp = 0;
  Doing doing = Doing::kEnded;
  Site site{};                   // where it waits
  std::vector<Copy> copies;      // in flight, oldest first
  std::vector<int> group_sizes;  // of the committed ones, oldest first
  int uncommitted = 0;           // copies at the end that belong to no group yet
};

// A collective that some of its lanes have reached.
struct Meeting {
  const char* what = "";
  Site site{};
  std::uint32_t mask = 0;  // 0: free
  std::uint32_t arrived = 0;
  void* args[kWarpLanes] = {};
};

struct Warp {
  std::uint32_t lanes = 0;  // that the block has
  std::uint32_t ready = 0;
  std::uint32_t epoch = 0;  // barriers of the warp since the last one of the block
  std::vector<Meeting> meetings;
};

struct Run {
  Settings* settings = nullptr;
  Grid grid{};
  uint3 block{};
  std::uint32_t block_number = 0;
  std::uint32_t launch_number = 0;
  std::uint32_t epoch = 0;  // barriers of the block so far
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  int alive = 0;
  int at_barrier = 0;
  std::string fault;
  Order order;
};

// Null outside of a kernel.
extern constinit thread_local Run* run;
extern constinit thread_local Thread* self;

// Goes back to the scheduler for good: the launch ends with this Error. What the fiber holds is never
// destroyed: no argument may own memory.
[[noreturn]] void stop();
template <typename... A>
[[noreturn]] void fault(fmt::format_string<A...> format, A&&... args) {
  run->fault = fmt::format(format, std::forward<A>(args)...);
  stop();
}

}  // namespace shoal::simt

template <>
struct fmt::formatter<shoal::simt::Site> : fmt::formatter<std::string_view> {
  fmt::format_context::iterator format(const shoal::simt::Site& site, fmt::format_context& context) const {
    const std::string_view file = site.file_name();
    return fmt::format_to(context.out(), "{}:{}:{}", file.substr(file.rfind('/') + 1), site.line(),
                          site.column());
  }
};
template <>
struct fmt::formatter<shoal::simt::Thread> : fmt::formatter<std::string_view> {
  fmt::format_context::iterator format(const shoal::simt::Thread& thread,
                                       fmt::format_context& context) const {
    return fmt::format_to(context.out(), "thread {}", thread.id);
  }
};
