// The CPU form of embedding_layernorm.h's embedding_backward: sums of rows of dz, without atomics.
//
// Each sum has one owner. Words: all chunks of an id belong to the thread that found the first of them.
// Positions and types: a thread owns a range of positions, or of columns, and walks the rows in order.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels/cpu/context.h"
#include "kernels/cpu/f32x16.h"
#include "kernels/cpu/row_blocks.h"
#include "kernels/embedding_layernorm.h"

namespace shoal::cpu {
namespace {

constexpr int kVectors = 4;  // columns of a tile, in vectors: a sum's registers
constexpr int kColumns = kVectors * kLanes;

// A sum of rows in up to kColumns columns. A tile narrower than that repeats its last vector.
struct Tile {
  f32x16 sum[kVectors] = {};

  template <typename T>
  void add(const T* row, const int (&offset)[kVectors]) {
    for (int v = 0; v < kVectors; ++v) sum[v] += load16(row + offset[v]);
  }
  void add(const Tile& other) {
    for (int v = 0; v < kVectors; ++v) sum[v] += other.sum[v];
  }
  void store(float* row, const int (&offset)[kVectors], bool accumulate) {
    f32x16 value[kVectors];
    for (int v = 0; v < kVectors; ++v) value[v] = accumulate ? load16(row + offset[v]) + sum[v] : sum[v];
    for (int v = 0; v < kVectors; ++v) store16(row + offset[v], value[v]);
  }
};

struct Columns {
  int offset[kVectors];

  Columns(int begin, int C) {
    for (int v = 0; v < kVectors; ++v) offset[v] = std::min(begin + v * kLanes, C - kLanes);
  }
};

// All chunks of one id: first .. last of the entry's list.
template <typename T>
void word_gradient(const EmbeddingBackward& a, int w, const IdChunk* first, const IdChunk* last) {
  const T* dz = row_of<T>(a.dz, a.rows.row0[w], a.C);
  const std::int32_t* order = a.order + a.rows.row0[w];
  float* dword = of_entry(a.dword, a.rows, w) + static_cast<std::int64_t>(first->id) * a.C;
  for (int begin = 0; begin < a.C; begin += kColumns) {
    const Columns columns(begin, a.C);
    Tile total;
    for (const IdChunk* chunk = first; chunk < last; ++chunk) {
      Tile part;
      for (int i = chunk->begin; i < chunk->end; ++i) part.add(row_of<T>(dz, order[i], a.C), columns.offset);
      total.add(part);
    }
    total.store(dword, columns.offset, true);
  }
}

// Rows that share a run may belong to two threads.
void touch(const EmbeddingBackward& a, int w, std::int64_t id) {
  if (a.touched == nullptr) return;
  std::uint8_t* marks = a.touched + a.rows.slot[w] * (a.dword.stride / kTouchRun);
  for (std::int64_t run = id * a.C / kTouchRun; run <= (id * a.C + a.C - 1) / kTouchRun; ++run)
    std::atomic_ref(marks[run]).store(1, std::memory_order_relaxed);
}

template <typename T>
void word_chunk(const EmbeddingBackward& a, int w, int c) {
  const IdChunk* chunks = a.chunks + a.rows.row0[w];
  if (c > 0 && chunks[c - 1].id == chunks[c].id) return;
  int end = c + 1;
  while (end < a.chunk_count[w] && chunks[end].id == chunks[c].id) ++end;
  word_gradient<T>(a, w, chunks + c, chunks + end);
  touch(a, w, chunks[c].id);
}

int longest(const Seqs& seqs, int w) {
  const std::int32_t* cu = seqs.cu + static_cast<std::int64_t>(w) * (seqs.B + 1);
  int length = 0;
  for (int b = 0; b < seqs.count[w]; ++b) length = std::max(length, cu[b + 1] - cu[b]);
  return length;
}

template <typename T>
void position_gradient(const EmbeddingBackward& a, int w, int p) {
  const T* dz = row_of<T>(a.dz, a.rows.row0[w], a.C);
  const std::int32_t* cu = a.seqs.cu + static_cast<std::int64_t>(w) * (a.seqs.B + 1);
  float* dposition = of_entry(a.dposition, a.rows, w) + static_cast<std::int64_t>(p) * a.C;
  for (int begin = 0; begin < a.C; begin += kColumns) {
    const Columns columns(begin, a.C);
    Tile total;
    for (int b = 0; b < a.seqs.count[w]; ++b) {
      if (cu[b + 1] - cu[b] > p) total.add(row_of<T>(dz, cu[b] + p, a.C), columns.offset);
    }
    total.store(dposition, columns.offset, a.dposition.mode[w] == GradMode::kAdd);
  }
}

// Every type's gradient in the columns from `begin`.
template <typename T>
void type_gradient(const EmbeddingBackward& a, int w, int begin) {
  const std::int64_t row0 = a.rows.row0[w], live = a.rows.live[w];
  const Columns columns(begin, a.C);
  for (int t = 0; t < a.T; ++t) {
    Tile total;
    for (std::int64_t first = 0; first < live; first += kRowChunk) {
      Tile part;
      for (std::int64_t r = first; r < std::min(live, first + kRowChunk); ++r) {
        if (a.types[row0 + r] == t) part.add(row_of<T>(a.dz, row0 + r, a.C), columns.offset);
      }
      total.add(part);
    }
    float* row = of_entry(a.dtype_table, a.rows, w) + static_cast<std::int64_t>(t) * a.C;
    total.store(row, columns.offset, a.dtype_table.mode[w] == GradMode::kAdd);
  }
}

template <typename T>
void entry_gradients(const EmbeddingBackward& a, int w) {
  if (writes(a.dword, a.rows, w) && a.rows.live[w] > 0) {
#pragma omp for schedule(dynamic, 16) nowait
    for (int c = 0; c < a.chunk_count[w]; ++c) word_chunk<T>(a, w, c);
  }
  if (writes(a.dposition, a.rows, w)) {
    const int used = a.rows.live[w] > 0 ? std::min(a.P, longest(a.seqs, w)) : 0;
#pragma omp for schedule(dynamic, 4) nowait
    for (int p = 0; p < used; ++p) position_gradient<T>(a, w, p);
    if (a.dposition.mode[w] == GradMode::kSet) {
      float* dposition = of_entry(a.dposition, a.rows, w);
#pragma omp for schedule(static) nowait
      for (int p = used; p < a.P; ++p) zero_rows(dposition, p, p + 1, a.C);
    }
  }
  if (writes(a.dtype_table, a.rows, w)) {
#pragma omp for schedule(dynamic, 1) nowait
    for (int begin = 0; begin < a.C; begin += kColumns) type_gradient<T>(a, w, begin);
  }
}

}  // namespace

void embedding_backward(const EmbeddingBackward& a, Stream stream) {
  check(a);
  with_type(a.dtype, [&](auto type) {
    using T = decltype(type);
#pragma omp parallel num_threads(context(stream).threads)
    for (int w = 0; w < a.rows.W; ++w) entry_gradients<T>(a, w);
  });
}

}  // namespace shoal::cpu
