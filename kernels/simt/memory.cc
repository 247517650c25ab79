#include "kernels/simt/memory.h"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "kernels/base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace shoal::simt {
namespace {

constexpr std::size_t kPages = kArenaBytes / kPageBytes;
constexpr std::size_t kMaxBlocks = std::size_t{1} << 22;  // over the life of the process

// Address space that becomes memory where it is touched.
void* reserve(std::size_t bytes) {
  void* const p =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(p != MAP_FAILED, "simt device: {} bytes of address space are not to be had", bytes);
  return p;
}

std::size_t pages_of(std::size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes;
}

class Pages {
 public:
  Pages() {
    arena.base = static_cast<std::byte*>(reserve(kArenaBytes));
    arena.block_of_page = static_cast<std::uint32_t*>(reserve(kPages * sizeof(std::uint32_t)));
    arena.block_end = static_cast<const std::byte**>(reserve(kMaxBlocks * sizeof(std::byte*)));
    shadow = static_cast<Touch*>(reserve(kArenaBytes / 2 * sizeof(Touch)));
  }

  void* allocate(std::size_t bytes) {
    const std::size_t pages = pages_of(bytes == 0 ? 1 : bytes) + 1;  // and one that is nobody's
    const std::lock_guard lock(mutex_);
    if (next_ + pages > kPages) next_ = 0;  // round about: a stale address stays nobody's for long
    std::size_t first = next_;
    for (auto used = blocks_.lower_bound(first); used != blocks_.end() && used->first < first + pages;
         used = blocks_.lower_bound(first)) {
      first = used->first + used->second.pages;
    }
    require(first + pages <= kPages && numbers_ + 1 < kMaxBlocks,
            "simt device: {} bytes wanted: its {} GiB of addresses are used up", bytes, kArenaBytes >> 30);
    std::byte* const begin = arena.base + first * kPageBytes;
    const std::uint32_t number = ++numbers_;
    arena.block_end[number] = begin + bytes;
    for (std::size_t i = 0; i + 1 < pages; ++i) arena.block_of_page[first + i] = number;
    blocks_[first] = {pages, bytes};
    next_ = first + pages;
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(begin, bytes);
    ASAN_POISON_MEMORY_REGION(begin + bytes, pages * kPageBytes - bytes);
#endif
    std::memset(begin, 0xff, bytes);
    return begin;
  }

  void release(void* block) {
    if (block == nullptr) return;
    const std::lock_guard lock(mutex_);
    const auto at = static_cast<std::byte*>(block) - arena.base;
    const auto found = in_arena(block) && at % static_cast<std::ptrdiff_t>(kPageBytes) == 0
                           ? blocks_.find(static_cast<std::size_t>(at) / kPageBytes)
                           : blocks_.end();
    require(found != blocks_.end(), "simt device: release: {} is not allocated", block);
    const auto [first, held] = *found;
    for (std::size_t i = 0; i < held.pages; ++i) arena.block_of_page[first + i] = 0;
#if defined(__SANITIZE_ADDRESS__)
    ASAN_POISON_MEMORY_REGION(block, held.pages * kPageBytes);
#endif
    madvise(block, held.pages * kPageBytes, MADV_DONTNEED);
    madvise(touch_of(block), held.pages * kPageBytes / 2 * sizeof(Touch), MADV_DONTNEED);
    blocks_.erase(found);
  }

  Touch* shadow;

 private:
  struct Held {
    std::size_t pages;
    std::size_t bytes;
  };

  std::mutex mutex_;
  std::map<std::size_t, Held> blocks_;  // by first page
  std::size_t next_ = 0;
  std::uint32_t numbers_ = 0;
};

Pages& pages() {
  static Pages all;
  return all;
}

}  // namespace

Arena arena;

void* allocate_memory(std::size_t bytes) {
  return pages().allocate(bytes);
}
void release_memory(void* block) {
  pages().release(block);
}
Touch* touch_of(const void* p) {
  static Touch* const shadow = pages().shadow;
  return shadow + static_cast<std::size_t>(static_cast<const std::byte*>(p) - arena.base) / 2;
}

}  // namespace shoal::simt
