// One block of device memory, dealt out last in, first out.
//
// A dry run over a null base (kNullBase) tells how much a step needs; then one allocation serves every
// step. Each take() is named, so that the refusal of a plan can say who needs what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/base/dtype.h"

namespace shoal::models {

class Arena {
 public:
  static constexpr std::size_t kAlign = 256;  // bytes

  // base may be a null device's address: the arena never touches memory.
  Arena(void* base, std::size_t capacity) : base_(static_cast<std::byte*>(base)), capacity_(capacity) {}

  // Room for `count` elements. Error naming `name`, wanted and left, if it does not fit.
  template <typename T>
  T* take(std::string_view name, std::int64_t count) {
    return static_cast<T*>(take_bytes(name, static_cast<std::size_t>(count) * sizeof(T)));
  }
  // An activation of `count` elements of a run-time type.
  void* take(std::string_view name, DType dtype, std::int64_t count) {
    return take_bytes(name, static_cast<std::size_t>(count) * size_of(dtype));
  }

  // Gives back what was taken since mark().
  std::size_t mark() const { return top_; }
  void release(std::size_t mark) { top_ = mark; }

  std::size_t high_water() const { return high_water_; }

 private:
  void* take_bytes(std::string_view name, std::size_t bytes);

  std::byte* base_;
  std::size_t capacity_;
  std::size_t top_ = 0;
  std::size_t high_water_ = 0;
};

// Gives back at the end of a scope what was taken in it.
class ArenaScope {
 public:
  explicit ArenaScope(Arena& arena) : arena_(arena), mark_(arena.mark()) {}
  ~ArenaScope() { arena_.release(mark_); }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena& arena_;
  std::size_t mark_;
};

}  // namespace shoal::models
