// The part of the executor that a kernel sees: who it is, barriers, collectives, shared memory. Called on a
// fiber of run_grid() alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>

#include "kernels/simt/settings.h"

namespace shoal::simt {

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3() = default;
  template <typename X>
  dim3(X x_, unsigned y_ = 1, unsigned z_ = 1) : x(static_cast<unsigned>(x_)), y(y_), z(z_) {}
};

// A place in a kernel's source.
using Site = std::source_location;

uint3 thread_index();
uint3 block_index();
dim3 block_size();
dim3 grid_size();
int lane_index();

// All threads of the block, at one place: an Error of the launch if one has ended or stands elsewhere.
void sync_block(Site site);

// Collectives of the lanes in mask; the same refusals. Of these, only sync_warp orders memory.
void sync_warp(unsigned mask, Site site);
std::uint64_t shuffle_bits(unsigned mask, std::uint64_t value, int lane, Site site);
unsigned ballot(unsigned mask, bool vote, Site site);
void multiply_fragments(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                        Site site);
void load_matrices(std::uint32_t (&r)[4], const void* shared_row, bool transposed, Site site);

// The block's one static and one dynamic object; unwritten at first.
void* static_shared_memory(std::size_t bytes, std::size_t align);
void* dynamic_shared_memory();

// cp.async of this thread.
void start_copy_16(void* shared, const void* global, bool keep, Site site);
void commit_copies();
void wait_for_copies(int pending_groups);

// Ends the launch with an Error that names the kernel, the thread and the place.
[[noreturn]] void fault_at(const char* what, Site site);

struct Grid {
  const char* name;
  dim3 grid;
  dim3 block;
  std::size_t shared;  // bytes of dynamic shared memory
  const char* args;    // of the kernel
  std::size_t args_bytes;
};

// Runs a kernel: body(grid.args) once per thread. Blocks one after the other, threads as fibers, in an order
// drawn from settings.seed. One host thread at a time.
void run_grid(Settings& settings, const Grid& grid, void (*body)(const char* args));

}  // namespace shoal::simt
