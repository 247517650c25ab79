// Where a block of threads works: rows of one entry of the lane, parameters and gradients of its slot.
#pragma once

#include <ptx/cuda.h>

#include <cstdint>

#include "kernels/base/view.h"

namespace shoal::SHOAL_TARGET {

// The entry that owns lane row `row`: the last w with row0[w] <= row. W is small: the search is a few steps.
__device__ __forceinline__ int entry_of_row(const Rows& rows, std::int64_t row) {
  int low = 0, high = rows.W - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (rows.row0[middle] <= row) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Rows first .. first + count of the lane, count <= 128, first a multiple of count: which entry's they are.
// live and tail count from the run's first row: rows 0 .. live hold data, live .. tail are to be zeros, the
// rest is nobody's. tail == 0: nothing to do here.
struct RunOfRows {
  int w;
  std::int64_t first;  // of the lane
  int own;             // row of the entry that the run starts at
  int live;
  int tail;
};

__device__ __forceinline__ RunOfRows run_of_rows(const Rows& rows, std::int64_t first, int count) {
  RunOfRows run;
  run.w = entry_of_row(rows, first);
  run.first = first;
  run.own = static_cast<int>(first - rows.row0[run.w]);
  const int live = rows.live[run.w], end = (live + kRowAlign - 1) / kRowAlign * kRowAlign;
  run.live = max(0, min(count, live - run.own));
  run.tail = run.own < 0 ? 0 : max(0, min(count, end - run.own));
  return run;
}

// A slot's own parameter.
template <typename T>
__device__ __forceinline__ const T* of_slot(const Param& p, int slot) {
  return static_cast<const T*>(p.base) + slot * p.stride;
}
// Entry w's gradient.
__device__ __forceinline__ float* of_entry(const Grad& g, const Rows& rows, int w) {
  return g.base + rows.slot[w] * g.stride;
}
// Whether anything is to be written to it: an idle entry adds nothing, but sets zeros.
__device__ __forceinline__ bool writes(const Grad& g, const Rows& rows, int w) {
  if (g.base == nullptr || g.mode[w] == GradMode::kSkip) return false;
  return rows.live[w] > 0 || g.mode[w] == GradMode::kSet;
}

// Row r of an activation of C columns.
template <typename T>
__device__ __forceinline__ T* row_of(void* base, std::int64_t r, int C) {
  return static_cast<T*>(base) + r * C;
}
template <typename T>
__device__ __forceinline__ const T* row_of(const void* base, std::int64_t r, int C) {
  return static_cast<const T*>(base) + r * C;
}

}  // namespace shoal::SHOAL_TARGET
