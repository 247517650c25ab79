// How row ops share a lane's rows among threads.
//
// The rows of every entry are cut into blocks that start at multiples of `block` within the entry; each
// thread takes an equal run of the lane's blocks. A block is worked on alone, so results cannot depend
// on who took it. Entries without live rows have no blocks.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/base/view.h"
#include "kernels/cpu/context.h"

namespace shoal::cpu {

// Rows first .. last of entry w, relative to its row0. The entry's last block also owns the rows
// live .. tail, which an op fills with zeros; elsewhere tail == last.
struct RowBlock {
  int w = 0;
  std::int64_t row0 = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t tail = 0;
};

template <typename Work>
void for_row_blocks(const Context& context, const Rows& rows, int block, const Work& work) {
  std::int64_t total = 0;
  for (int w = 0; w < rows.W; ++w) total += (rows.live[w] + block - 1) / block;
  if (total == 0) return;
#pragma omp parallel num_threads(context.threads) if (total > 1)
  {
    const std::int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const std::int64_t begin = total * thread / threads, end = total * (thread + 1) / threads;
    std::int64_t at = 0;  // the lane's number of the entry's first block
    for (int w = 0; w < rows.W && at < end; ++w) {
      const std::int64_t live = rows.live[w], blocks = (live + block - 1) / block;
      const std::int64_t stop = std::min(blocks, end - at);
      for (std::int64_t b = std::max<std::int64_t>(0, begin - at); b < stop; ++b) {
        const std::int64_t last = std::min(live, (b + 1) * block);
        work(RowBlock{w, rows.row0[w], b * block, last, last == live ? ceil128(live) : last});
      }
      at += blocks;
    }
  }
}

template <typename T>
void zero_rows(T* base, std::int64_t first, std::int64_t last, std::int64_t width) {
  if (last > first) {
    std::memset(static_cast<void*>(base + first * width), 0,
                static_cast<std::size_t>((last - first) * width) * sizeof(T));
  }
}

// Row r of an activation with C columns.
template <typename T>
T* row_of(void* base, std::int64_t r, int C) {
  return static_cast<T*>(base) + r * C;
}
template <typename T>
const T* row_of(const void* base, std::int64_t r, int C) {
  return static_cast<const T*>(base) + r * C;
}

// A slot's own parameter.
template <typename T>
const T* of_slot(const Param& p, int slot) {
  return static_cast<const T*>(p.base) + slot * p.stride;
}

// Entry w's gradient, and whether anything is to be written to it: an idle entry adds nothing, but sets
// zeros.
inline float* of_entry(const Grad& grad, const Rows& rows, int w) {
  return grad.base + rows.slot[w] * grad.stride;
}
inline bool writes(const Grad& grad, const Rows& rows, int w) {
  if (grad.base == nullptr || grad.mode[w] == GradMode::kSkip) return false;
  return rows.live[w] > 0 || grad.mode[w] == GradMode::kSet;
}

// Calls work with a value of the element type that dtype names.
template <typename Work>
void with_type(DType dtype, const Work& work) {
  if (dtype == DType::kF32) {
    work(float{});
  } else {
    work(bf16{});
  }
}

}  // namespace shoal::cpu
