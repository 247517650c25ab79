// The shared memory of the block that runs, and what is known of each two bytes of it: unwritten, in flight
// (cp.async), who wrote and who read last. A load or store of a thread that no barrier orders against another
// thread's to the same bytes is a race, whatever the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/simt/run.h"

namespace shoal::simt {

class Shared {
 public:
  static constexpr std::size_t kMaxDynamic = 232'448;  // 227 KB, the most of sm_90
  static constexpr std::size_t kMaxStatic = 49'152;

  Shared();
  void begin_block(std::size_t dynamic_bytes);
  void* static_object(std::size_t bytes, std::size_t align);
  void* dynamic_object();

  bool contains(const void* p) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(p) - memory_) < kBytes;
  }
  // p .. p + bytes, within shared memory; faults name what is wrong. A build without instrumented loads and
  // stores cannot know what was written: it looks at bounds alone.
  void read(const void* p, std::size_t bytes);
  void write(const void* p, std::size_t bytes);
  void begin_copy(void* p, std::size_t bytes);  // cp.async is issued
  void end_copy(void* p, std::size_t bytes);    // and has been waited for
  void check_bounds(const void* p, std::size_t bytes) const;

 private:
  // Who accessed, and when as far as barriers order it: barriers of the block (high 32 bits), of the warp
  // (16), thread + 1 (16). Null: nobody.
  using Access = std::uint64_t;
  enum Holds : std::uint32_t { kNothing, kData, kCopyInFlight };
  struct Cell {
    std::uint32_t generation = 0;  // block whose data this is; another: nothing
    Holds holds = kNothing;
    Access writer = 0;
    Access reader[2] = {};
  };
  static constexpr std::size_t kGuard = 4096;
  static constexpr std::size_t kDynamicAt = kGuard;
  static constexpr std::size_t kStaticAt = kDynamicAt + kMaxDynamic + kGuard;
  static constexpr std::size_t kBytes = kStaticAt + kMaxStatic + kGuard;

  Cell& cell(std::size_t i);
  static Access present();
  static bool ordered(Access before, Access now);
  [[noreturn]] void race(const char* what, Access before, std::size_t cell) const;
  void note_write(const void* p, std::size_t bytes, Holds holds);

  std::byte* memory_;
  std::vector<Cell> cells_;
  std::uint32_t generation_ = 0;
  std::size_t dynamic_bytes_ = 0;
  std::size_t static_bytes_ = 0;
};

Shared& shared_memory();

}  // namespace shoal::simt
