// What the CPU ops share: the number of threads, scratch memory, what the CPU can do with bf16.
//
// One Context per stream; Stream.handle points to it, there are no globals. Work on a stream runs at
// once on the calling thread, so a Context serves one host thread at a time and takes no lock.
// Scratch grows to the largest use and stays: reserve before the parallel loop (it may throw), fetch
// inside by omp_get_thread_num(). Results never depend on the number of threads: a loop divides work
// by the shapes of the slot alone, threads only pick up the pieces.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/table.h"

namespace shoal::cpu {

// A block of 64-byte aligned memory that only grows; what it held is lost when it does.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();
  std::byte* reserve(std::size_t bytes);
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// The unit that multiplies bf16; kNone: bf16 is not offered.
enum class Bf16Unit { kNone, kAvx512, kAmx };
Bf16Unit find_bf16_unit();

class Context {
 public:
  Context(int thread_count, Bf16Unit unit);

  const int threads;
  const Bf16Unit bf16_unit;

  // Scratch of each thread, for the op in progress: reserve() sizes it for all of them.
  void reserve(std::size_t bytes_per_thread);
  template <typename T>
  T* scratch(int thread) const {
    return reinterpret_cast<T*>(scratch_[static_cast<std::size_t>(thread)].data());
  }

  // One block that all threads see, for the op in progress.
  template <typename T>
  T* shared(std::size_t elements) {
    return reinterpret_cast<T*>(shared_.reserve(elements * sizeof(T)));
  }

 private:
  std::vector<Buffer> scratch_;
  Buffer shared_;
};

// Divides n things into tiles of a fixed size.
constexpr std::int64_t tiles_of(std::int64_t n, std::int64_t tile) {
  return (n + tile - 1) / tile;
}

inline Context& context(Stream stream) {
  return *static_cast<Context*>(stream.handle);
}

#define SHOAL_OP(function, Args) void function(const Args& args, Stream stream);
#include "kernels/ops.def"
#undef SHOAL_OP

}  // namespace shoal::cpu
