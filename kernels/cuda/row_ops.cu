// gather_rows, scatter_rows, dropout and cast_rows: one pass each, 16 bytes at a time.
#include "kernels/cuda/parts/dropout.h"
#include "kernels/cuda/parts/refuse.h"
#include "kernels/cuda/parts/rows.h"
#include "kernels/cuda/parts/swizzle.h"
#include "kernels/cuda/parts/vector8.h"
#include "kernels/row_ops.h"

namespace shoal::SHOAL_TARGET {
namespace {

constexpr int kThreads = 256;
constexpr int kRowsOfBlock = 32;

// work(row of the run, its lane row, column) for every eight elements of the run's first `count` rows.
template <typename Work>
__device__ __forceinline__ void for_vectors(const RunOfRows& run, int count, int C, const Work& work) {
  const int chunks = C / kChunk;
  for (int i = static_cast<int>(threadIdx.x); i < count * chunks; i += kThreads) {
    work(i / chunks, run.first + i / chunks, i % chunks * kChunk);
  }
}

__device__ __forceinline__ void copy8(void* to, const void* from) {
  *static_cast<uint4*>(to) = *static_cast<const uint4*>(from);
}

__global__ void __launch_bounds__(kThreads) gather_rows_kernel(GatherRows a) {
  const RunOfRows run = run_of_rows(a.to, static_cast<std::int64_t>(blockIdx.x) * kRowsOfBlock, kRowsOfBlock);
  for_vectors(run, run.tail, a.C, [&](int row, std::int64_t at, int column) {
    bf16* const y = row_of<bf16>(a.y, at, a.C) + column;
    if (row < run.live) {
      copy8(y, row_of<bf16>(a.x, a.from.row0[run.w] + a.index[at], a.C) + column);
    } else {
      store8_zeros(y);
    }
  });
}

struct Sources {
  int row[kRowAlign];  // of the entry in `to`, or -1
};

// 128 rows of dx: which of them are named, then all of them.
__global__ void __launch_bounds__(kThreads) scatter_rows_kernel_set(ScatterRows a) {
  SHOAL_SHARED(Sources, source);
  const int thread = static_cast<int>(threadIdx.x);
  const RunOfRows run = run_of_rows(a.from, static_cast<std::int64_t>(blockIdx.x) * kRowAlign, kRowAlign);
  if (run.tail == 0) return;
  if (thread < kRowAlign) source.row[thread] = -1;
  __syncthreads();
  const std::int64_t row0 = a.to.row0[run.w];
  for (int i = thread; i < a.to.live[run.w]; i += kThreads) {
    const int row = a.index[row0 + i] - run.own;
    if (row >= 0 && row < kRowAlign) source.row[row] = i;
  }
  __syncthreads();
  for_vectors(run, run.tail, a.C, [&](int row, std::int64_t at, int column) {
    bf16* const dx = row_of<bf16>(a.dx, at, a.C) + column;
    if (source.row[row] >= 0) {
      copy8(dx, row_of<bf16>(a.dy, row0 + source.row[row], a.C) + column);
    } else {
      store8_zeros(dx);
    }
  });
}

__global__ void __launch_bounds__(kThreads) scatter_rows_kernel_add(ScatterRows a) {
  const RunOfRows run = run_of_rows(a.to, static_cast<std::int64_t>(blockIdx.x) * kRowsOfBlock, kRowsOfBlock);
  for_vectors(run, run.live, a.C, [&](int, std::int64_t at, int column) {
    bf16* const dx = row_of<bf16>(a.dx, a.from.row0[run.w] + a.index[at], a.C) + column;
    float sum[8], dy[8];
    load8(sum, dx);
    load8(dy, row_of<bf16>(a.dy, at, a.C) + column);
#pragma unroll
    for (int j = 0; j < 8; ++j) sum[j] += dy[j];
    store8(dx, sum);
  });
}

__global__ void __launch_bounds__(kThreads) dropout_kernel(Dropout a) {
  const RunOfRows run =
      run_of_rows(a.rows, static_cast<std::int64_t>(blockIdx.x) * kRowsOfBlock, kRowsOfBlock);
  if (run.tail == 0) return;
  const HiddenDropout dropout(a.drop, run.w);
  for_vectors(run, run.tail, a.C, [&](int row, std::int64_t at, int column) {
    bf16* const y = row_of<bf16>(a.y, at, a.C) + column;
    if (row >= run.live) {
      store8_zeros(y);
      return;
    }
    float v[8];
    load8(v, row_of<bf16>(a.x, at, a.C) + column);
    dropout.apply(
        v, static_cast<std::uint32_t>(((run.own + row) * static_cast<std::int64_t>(a.C) + column) / 8));
    store8(y, v);
  });
}

__global__ void __launch_bounds__(kThreads) cast_rows_kernel(CastRows a) {
  const std::int64_t row = a.slot[blockIdx.y] * a.stride;
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kChunk;
  if (i + kChunk <= a.elements) {
    float v[8];
    load8_f32(v, a.from + row + i);
    store8(a.to + row + i, v);
  } else {
    for (std::int64_t j = i; j < a.elements; ++j) a.to[row + j] = to_bf16(a.from[row + j]);
  }
}

unsigned blocks(std::int64_t n, int of) {
  return static_cast<unsigned>((n + of - 1) / of);
}

}  // namespace

void gather_rows(const GatherRows& a, Stream stream) {
  check(a);
  require_bf16("gather_rows", a.dtype);
  launch<gather_rows_kernel>({.name = "gather_rows",
                              .grid = dim3(blocks(a.to.rows, kRowsOfBlock)),
                              .block = dim3(kThreads),
                              .stream = stream},
                             a);
}

void scatter_rows(const ScatterRows& a, Stream stream) {
  check(a);
  require_bf16("scatter_rows", a.dtype);
  if (a.add) {
    launch<scatter_rows_kernel_add>({.name = "scatter_rows",
                                     .grid = dim3(blocks(a.to.rows, kRowsOfBlock)),
                                     .block = dim3(kThreads),
                                     .stream = stream},
                                    a);
  } else {
    launch<scatter_rows_kernel_set>({.name = "scatter_rows",
                                     .grid = dim3(blocks(a.from.rows, kRowAlign)),
                                     .block = dim3(kThreads),
                                     .stream = stream},
                                    a);
  }
}

void dropout(const Dropout& a, Stream stream) {
  check(a);
  require_bf16("dropout", a.dtype);
  launch<dropout_kernel>({.name = "dropout",
                          .grid = dim3(blocks(a.rows.rows, kRowsOfBlock)),
                          .block = dim3(kThreads),
                          .stream = stream},
                         a);
}

void cast_rows(const CastRows& a, Stream stream) {
  check(a);
  if (a.elements == 0) return;
  launch<cast_rows_kernel>({.name = "cast_rows",
                            .grid = dim3(blocks(a.elements, kThreads * kChunk), static_cast<unsigned>(a.W)),
                            .block = dim3(kThreads),
                            .stream = stream},
                           a);
}

}  // namespace shoal::SHOAL_TARGET
