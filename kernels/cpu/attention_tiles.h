// What attention's forward and backward are made of: dense f32 tiles of one head of one sequence, in a
// thread's own scratch, and products of such tiles. Sequences are short and heads narrow, so a product is
// a handful of registers; the k of every product goes up by one, in one accumulator.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/base/view.h"
#include "kernels/cpu/f32x16.h"
#include "kernels/cpu/vec.h"

namespace shoal::cpu {

// A left operand, element (i, k) at base[i * row + k * column]: a transpose costs nothing.
struct Left {
  const float* base = nullptr;
  std::int64_t row = 0;
  std::int64_t column = 1;
};

template <int M, int N>
inline void multiply_registers(float* c, std::int64_t ldc, const Left& a, const float* b, std::int64_t ldb,
                               std::int64_t k, bool add) {
  f32x16 sum[M][N];
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) sum[i][j] = add ? load16(c + i * ldc + j * kLanes) : f32x16{};
  }
  for (std::int64_t p = 0; p < k; ++p) {
    f32x16 right[N];
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) right[j] = load16(b + p * ldb + j * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) {
      const f32x16 left = splat(a.base[i * a.row + p * a.column]);
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) sum[i][j] = fma(left, right[j], sum[i][j]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) store16(c + i * ldc + j * kLanes, sum[i][j]);
  }
}

template <int N>
inline void multiply_columns(float* c, std::int64_t ldc, Left a, const float* b, std::int64_t ldb,
                             std::int64_t m, std::int64_t k, bool add) {
  std::int64_t i = 0;
  for (; i + 8 <= m; i += 8, a.base += 8 * a.row)
    multiply_registers<8, N>(c + i * ldc, ldc, a, b, ldb, k, add);
  for (; i + 4 <= m; i += 4, a.base += 4 * a.row)
    multiply_registers<4, N>(c + i * ldc, ldc, a, b, ldb, k, add);
  for (; i < m; ++i, a.base += a.row) multiply_registers<1, N>(c + i * ldc, ldc, a, b, ldb, k, add);
}

// c [m,n] = a [m,k] b [k,n], or += if add; n a multiple of 16.
inline void multiply_tile(float* c, std::int64_t ldc, const Left& a, const float* b, std::int64_t ldb,
                          std::int64_t m, std::int64_t n, std::int64_t k, bool add) {
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes) multiply_columns<2>(c + j, ldc, a, b + j, ldb, m, k, add);
  if (j < n) multiply_columns<1>(c + j, ldc, a, b + j, ldb, m, k, add);
}

// Rows of an activation as a dense tile [n, d], times factor.
template <typename T>
inline void load_tile(float* to, const T* from, std::int64_t ld, std::int64_t n, int d, float factor) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (int j = 0; j < d; j += kLanes) store16(to + i * d + j, load16(from + i * ld + j) * factor);
  }
}

// 16 x 16, in place.
inline void transpose16(f32x16 (&r)[16]) {
  f32x16 t[16];
  for (int half = 8; half >= 1; half /= 2) {
    for (int i = 0; i < 16; ++i) t[i] = r[i];
    for (int i = 0; i < 16; ++i) {
      if ((i & half) != 0) continue;
      i32x16 low, high;
      for (int j = 0; j < 16; ++j) {
        low[j] = (j & half) == 0 ? j : 16 + j - half;
        high[j] = (j & half) == 0 ? j + half : 16 + j;
      }
      r[i] = __builtin_shuffle(t[i], t[i + half], low);
      r[i + half] = __builtin_shuffle(t[i], t[i + half], high);
    }
  }
}

// The transpose of such rows: a tile [d, round_up(n, 16)], zeros beyond column n.
template <typename T>
inline void load_transposed_tile(float* to, const T* from, std::int64_t ld, std::int64_t n, int d) {
  const std::int64_t columns = ceil16(n);
  for (std::int64_t i = 0; i < n; i += kLanes) {
    for (int j = 0; j < d; j += kLanes) {
      f32x16 r[kLanes];
      for (int q = 0; q < kLanes; ++q) r[q] = i + q < n ? load16(from + (i + q) * ld + j) : f32x16{};
      transpose16(r);
      for (int q = 0; q < kLanes; ++q) store16(to + (j + q) * columns + i, r[q]);
    }
  }
}

template <typename T>
inline void store_tile(T* to, std::int64_t ld, const float* from, std::int64_t n, int d, float factor) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (int j = 0; j < d; j += kLanes) put16(to + i * ld + j, load16(from + i * d + j) * factor);
  }
}

inline float max16(f32x16 a) {
  using f32x8 = float __attribute__((vector_size(32)));
  using f32x4 = float __attribute__((vector_size(16)));
  const f32x8 x = __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7);
  const f32x8 y = __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15);
  const f32x8 eight = x > y ? x : y;
  const f32x4 u = __builtin_shufflevector(eight, eight, 0, 1, 2, 3);
  const f32x4 v = __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  const f32x4 four = u > v ? u : v;
  const float even = four[0] > four[2] ? four[0] : four[2], odd = four[1] > four[3] ? four[1] : four[3];
  return even > odd ? even : odd;
}

// The largest of a row's first n scores; what fills up the last vector becomes -infinity.
inline float row_max(float* s, std::int64_t n) {
  const std::int64_t last = ceil16(n) - kLanes;
  f32x16 max = first_lanes(load16(s + last), n - last, splat(-std::numeric_limits<float>::infinity()));
  store16(s + last, max);
  for (std::int64_t j = 0; j < last; j += kLanes) {
    const f32x16 x = load16(s + j);
    max = x > max ? x : max;
  }
  return max16(max);
}

// delta = sum(do o) per row.
template <typename T>
inline void make_delta(float* delta, const T* dout, const T* o, std::int64_t ld, std::int64_t n, int D) {
  for (std::int64_t i = 0; i < n; ++i) {
    f32x16 sum = {};
    for (int d = 0; d < D; d += kLanes) sum = fma(load16(dout + i * ld + d), load16(o + i * ld + d), sum);
    delta[i] = sum16(sum);
  }
}

// Calls work(item, head, of_thread) for every head of every sequence in the lists, long ones first.
// of_thread is what make(thread) returned for the thread at work.
template <typename Make, typename Work>
void for_heads(const Seqs& seqs, int H, int threads, const Make& make, const Work& work) {
  std::int64_t start[Seqs::kLists + 1] = {};
  for (int l = 0; l < Seqs::kLists; ++l) {
    start[l + 1] = start[l] + std::int64_t{seqs.item_count[Seqs::kLists - 1 - l]} * H;
  }
#pragma omp parallel num_threads(threads)
  {
    const auto of_thread = make(omp_get_thread_num());
#pragma omp for schedule(dynamic)
    for (std::int64_t i = 0; i < start[Seqs::kLists]; ++i) {
      int l = 0;
      while (i >= start[l + 1]) ++l;
      const std::int64_t at = i - start[l];
      work(seqs.items[Seqs::kLists - 1 - l][at / H], static_cast<int>(at % H), of_thread);
    }
  }
}

// Rows of a sequence of the lane.
struct SeqRows {
  SeqRows(const Seqs& seqs, const Rows& rows, const SeqItem& item) {
    const std::int32_t* const cu = seqs.cu + std::int64_t{item.w} * (seqs.B + 1) + item.seq;
    first = rows.row0[item.w] + cu[0];
    length = cu[1] - cu[0];
  }
  std::int64_t first = 0;
  std::int64_t length = 0;
};

// The longest sequence of the lane: sizes scratch, decides nothing.
inline std::int64_t longest(const Seqs& seqs, const Rows& rows) {
  std::int64_t length = 0;
  for (int l = 0; l < Seqs::kLists; ++l) {
    for (int i = 0; i < seqs.item_count[l]; ++i) {
      length = std::max(length, SeqRows(seqs, rows, seqs.items[l][i]).length);
    }
  }
  return length;
}

}  // namespace shoal::cpu
