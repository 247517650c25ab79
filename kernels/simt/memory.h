// Device memory of the simt devices: one range of addresses, never used twice in a row, each block on pages
// of its own with a page that belongs to nobody behind it. Kernels' loads and stores are checked against it,
// and what a launch does to it is written in a shadow: which bytes it has touched, and which thread block.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal::simt {

// Zero-filled pages, then 0xFF: what nobody wrote is NaN. Error naming bytes where the system has no more.
void* allocate_memory(std::size_t bytes);
void release_memory(void* block);  // null is allowed; Error if it is no block

constexpr std::size_t kArenaBytes = std::size_t{64} << 30;
constexpr std::size_t kPageBytes = 4096;

// What the checks of loads and stores need; reads are free of locks: a launch runs alone.
struct Arena {
  std::byte* base = nullptr;
  std::uint32_t* block_of_page = nullptr;  // 0: nobody's
  const std::byte** block_end = nullptr;   // by block number
};
extern Arena arena;

inline bool in_arena(const void* p) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(p) - arena.base) < kArenaBytes;
}
// Whether bytes p .. p + size, p in the arena, are of one block.
inline bool in_one_block(const void* p, std::size_t size) {
  const std::byte* const first = static_cast<const std::byte*>(p);
  const std::uint32_t block = arena.block_of_page[static_cast<std::size_t>(first - arena.base) / kPageBytes];
  return block != 0 && first + size <= arena.block_end[block];
}

// What the present launch has done to two bytes. A number of a launch that is past says nothing.
struct Touch {
  std::uint32_t write_launch = 0;
  std::uint32_t writer = 0;  // thread block
  std::uint32_t read_launch = 0;
  std::uint32_t reader = 0;  // thread block, or kSeveral
};
constexpr std::uint32_t kSeveral = 0xffffffffu;
Touch* touch_of(const void* p);

}  // namespace shoal::simt
