#include "kernels/simt/shared.h"

#include <cstdlib>
#include <cstring>

#include "kernels/base/error.h"
#include "kernels/simt/access.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define SHOAL_POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define SHOAL_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define SHOAL_POISON(p, n) ((void)0)
#define SHOAL_UNPOISON(p, n) ((void)0)
#endif

namespace shoal::simt {

Shared::Shared() : cells_(kBytes / 2) {
  static_assert(kDynamicAt % 1024 == 0 && kStaticAt % 1024 == 0 && kBytes % 1024 == 0);
  memory_ = static_cast<std::byte*>(std::aligned_alloc(4096, (kBytes + 4095) / 4096 * 4096));
  require(memory_ != nullptr, "simt: no memory for the shared memory of a block");
}

void Shared::begin_block(std::size_t dynamic_bytes) {
  ++generation_;
  dynamic_bytes_ = dynamic_bytes;
  static_bytes_ = 0;
  SHOAL_POISON(memory_, kBytes);
  SHOAL_UNPOISON(memory_ + kDynamicAt, dynamic_bytes);
  std::memset(memory_ + kDynamicAt, 0xff, dynamic_bytes);
}

void* Shared::static_object(std::size_t bytes, std::size_t align) {
  if (bytes > kMaxStatic || align > 1024) fault("static shared memory of more than 48 KB");
  if (static_bytes_ == 0) {
    static_bytes_ = bytes;
    SHOAL_UNPOISON(memory_ + kStaticAt, bytes);
    std::memset(memory_ + kStaticAt, 0xff, bytes);
  } else if (static_bytes_ != bytes) {
    fault("two static objects in shared memory; one can be");
  }
  return memory_ + kStaticAt;
}

void* Shared::dynamic_object() {
  if (dynamic_bytes_ == 0) fault("dynamic shared memory, but the launch asks for none");
  return memory_ + kDynamicAt;
}

void Shared::check_bounds(const void* p, std::size_t bytes) const {
  const std::size_t at = static_cast<std::size_t>(static_cast<const std::byte*>(p) - memory_);
  const bool dynamic = at >= kDynamicAt && at + bytes <= kDynamicAt + dynamic_bytes_;
  const bool fixed = at >= kStaticAt && at + bytes <= kStaticAt + static_bytes_;
  if (!dynamic && !fixed) fault("{}: {} bytes beyond the block's shared memory", *self, bytes);
}

Shared::Cell& Shared::cell(std::size_t i) {
  Cell& c = cells_[i];
  if (c.generation != generation_) {
    c = Cell{};
    c.generation = generation_;
  }
  return c;
}

Shared::Access Shared::present() {
  const std::uint32_t warp_epoch = run->warps[static_cast<std::size_t>(self->warp)].epoch;
  if (warp_epoch > 0xffff) fault("more __syncwarp between two barriers of the block than can be told apart");
  return std::uint64_t{run->epoch} << 32 | warp_epoch << 16 | static_cast<std::uint32_t>(self->id + 1);
}

// Whether barriers put `before` first; one's own accesses are in order.
bool Shared::ordered(Access before, Access now) {
  if (before == 0 || before >> 32 < now >> 32) return true;
  const std::uint32_t other = before & 0xffff, own = now & 0xffff;
  if (other == own) return true;
  return (other - 1) / kWarpLanes == (own - 1) / kWarpLanes && (before >> 16 & 0xffff) < (now >> 16 & 0xffff);
}

void Shared::race(const char* what, Access before, std::size_t cell) const {
  const bool fixed = cell * 2 >= kStaticAt;
  fault("race in shared memory: {} {} of thread {}, byte {} of the {} object, with no barrier between", *self,
        what, (before & 0xffff) - 1, cell * 2 - (fixed ? kStaticAt : kDynamicAt),
        fixed ? "static" : "dynamic");
}

void Shared::read(const void* p, std::size_t bytes) {
  check_bounds(p, bytes);
  if constexpr (!kInstrumented) return;
  const std::size_t begin = static_cast<std::size_t>(static_cast<const std::byte*>(p) - memory_);
  const Access now = present();
  for (std::size_t i = begin / 2; i < (begin + bytes + 1) / 2; ++i) {
    Cell& c = cell(i);
    if (c.holds == kNothing) fault("{} reads shared memory that nobody wrote", *self);
    if (c.holds == kCopyInFlight) {
      fault("{} reads what cp.async has not brought: waited for too weakly", *self);
    }
    if (!ordered(c.writer, now)) race("reads the write", c.writer, i);
    // Two readers are remembered: a writer that is one of them still meets the other.
    const bool first = (c.reader[0] & 0xffff) == (now & 0xffff) || ordered(c.reader[0], now);
    c.reader[first ? 0 : 1] = now;
  }
}

void Shared::note_write(const void* p, std::size_t bytes, Holds holds) {
  check_bounds(p, bytes);
  if constexpr (!kInstrumented) return;
  const std::size_t begin = static_cast<std::size_t>(static_cast<const std::byte*>(p) - memory_);
  const Access now = present();
  for (std::size_t i = begin / 2; i < (begin + bytes + 1) / 2; ++i) {
    Cell& c = cell(i);
    if (c.holds == kCopyInFlight) fault("{} writes where a cp.async is in flight", *self);
    if (!ordered(c.writer, now)) race("writes over a write", c.writer, i);
    for (const Access reader : c.reader) {
      if (!ordered(reader, now)) race("writes over a read", reader, i);
    }
    c.holds = holds;
    c.writer = now;
    c.reader[0] = c.reader[1] = 0;
  }
}

void Shared::write(const void* p, std::size_t bytes) {
  note_write(p, bytes, kData);
}

void Shared::begin_copy(void* p, std::size_t bytes) {
  note_write(p, bytes, kCopyInFlight);
  std::memset(p, 0xff, bytes);
}

void Shared::end_copy(void* p, std::size_t bytes) {
  if constexpr (!kInstrumented) return;
  const std::size_t begin = static_cast<std::size_t>(static_cast<const std::byte*>(p) - memory_);
  for (std::size_t i = begin / 2; i < (begin + bytes + 1) / 2; ++i) {
    Cell& c = cell(i);
    c.holds = kData;
    c.writer = present();
  }
}

Shared& shared_memory() {
  static Shared one;  // one launch runs at a time
  return one;
}
void* static_shared_memory(std::size_t bytes, std::size_t align) {
  return shared_memory().static_object(bytes, align);
}
void* dynamic_shared_memory() {
  return shared_memory().dynamic_object();
}

}  // namespace shoal::simt
