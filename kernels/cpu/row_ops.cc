// The CPU forms of row_ops.h: rows moved, masked and cast.
#include "kernels/row_ops.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/context.h"
#include "kernels/cpu/dropout_rows.h"
#include "kernels/cpu/f32x16.h"
#include "kernels/cpu/row_blocks.h"

namespace shoal::cpu {
namespace {

constexpr int kBlock = 16;  // rows a thread takes at once

template <typename T>
void copy_row(T* to, const T* from, int C) {
  if (to != from) {
    std::memcpy(static_cast<void*>(to), static_cast<const void*>(from),
                static_cast<std::size_t>(C) * sizeof(T));
  }
}

// Masks a row in pieces, since dropout alone sets no bound on C.
template <typename T>
void dropout_row(T* y, const T* x, const RowDropout& drop, std::int64_t r, int C) {
  constexpr int kPiece = 1024;
  alignas(64) std::uint16_t numbers[kPiece];
  for (int begin = 0; begin < C; begin += kPiece) {
    const int n = std::min(kPiece, C - begin);
    dropout_numbers(numbers, drop, r * C + begin, n);
    for (int i = 0; i < n; i += kLanes)
      store16(y + begin + i, masked(load16(x + begin + i), numbers + i, drop));
  }
}

template <typename T>
void dropout_block(const Dropout& a, const RowBlock& block) {
  const RowDropout drop = row_dropout(a.drop, block.w);
  for (std::int64_t r = block.first; r < block.last; ++r) {
    T* y = row_of<T>(a.y, block.row0 + r, a.C);
    const T* x = row_of<T>(a.x, block.row0 + r, a.C);
    drop.active ? dropout_row(y, x, drop, r, a.C) : copy_row(y, x, a.C);
  }
  zero_rows(row_of<T>(a.y, block.row0, a.C), block.last, block.tail, a.C);
}

template <typename T>
void scatter_block(const ScatterRows& a, const RowBlock& block) {
  for (std::int64_t r = block.first; r < block.last; ++r) {
    const T* dy = row_of<T>(a.dy, block.row0 + r, a.C);
    T* dx = row_of<T>(a.dx, a.from.row0[block.w] + a.index[block.row0 + r], a.C);
    if (!a.add) {
      copy_row(dx, dy, a.C);
      continue;
    }
    for (int i = 0; i < a.C; i += kLanes) store16(dx + i, load16(dx + i) + load16(dy + i));
  }
}

}  // namespace

void gather_rows(const GatherRows& a, Stream stream) {
  check(a);
  with_type(a.dtype, [&](auto type) {
    using T = decltype(type);
    for_row_blocks(context(stream), a.to, kBlock, [&](const RowBlock& block) {
      const T* x = row_of<T>(a.x, a.from.row0[block.w], a.C);
      for (std::int64_t r = block.first; r < block.last; ++r) {
        copy_row(row_of<T>(a.y, block.row0 + r, a.C), row_of<T>(x, a.index[block.row0 + r], a.C), a.C);
      }
      zero_rows(row_of<T>(a.y, block.row0, a.C), block.last, block.tail, a.C);
    });
  });
}

void scatter_rows(const ScatterRows& a, Stream stream) {
  check(a);
  with_type(a.dtype, [&](auto type) {
    using T = decltype(type);
    if (!a.add) {
      for_row_blocks(context(stream), a.from, kBlock, [&](const RowBlock& block) {
        zero_rows(row_of<T>(a.dx, block.row0, a.C), block.first, block.tail, a.C);
      });
    }
    for_row_blocks(context(stream), a.to, kBlock, [&](const RowBlock& block) { scatter_block<T>(a, block); });
  });
}

void dropout(const Dropout& a, Stream stream) {
  check(a);
  with_type(a.dtype, [&](auto type) {
    using T = decltype(type);
    for_row_blocks(context(stream), a.rows, kBlock,
                   [&](const RowBlock& block) { dropout_block<T>(a, block); });
  });
}

void cast_rows(const CastRows& a, Stream stream) {
  check(a);
  constexpr std::int64_t kPiece = 16384;  // elements a thread takes at once
  const std::int64_t pieces = (a.elements + kPiece - 1) / kPiece;
#pragma omp parallel for num_threads(context(stream).threads) schedule(static)
  for (std::int64_t n = 0; n < pieces * a.W; ++n) {
    const std::int64_t row = a.slot[n / pieces] * a.stride;
    const std::int64_t first = n % pieces * kPiece, last = std::min(a.elements, first + kPiece);
    std::int64_t i = first;
    for (; i + kLanes <= last; i += kLanes) store16(a.to + row + i, load16(a.from + row + i));
    for (; i < last; ++i) a.to[row + i] = bf16(a.from[row + i]);
  }
}

}  // namespace shoal::cpu
