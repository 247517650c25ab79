// LayerNorm of one row and its backward of a few, on f32 values whatever the storage.
//
// Every sum over columns is taken in chains of sixteen lanes whose number and order follow C alone, so a
// row's result does not depend on where the row stands or how many are worked on together.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cpu/dropout_rows.h"
#include "kernels/cpu/f32x16.h"

namespace shoal::cpu {

constexpr int kMaxColumns = 4096;

// a = add(a, i) for i = 0, 16, .. < C in four chains, summed. add may store what it computes on its way.
template <typename Add>
inline float sum_columns(int C, const Add& add) {
  f32x16 a = {}, b = {}, c = {}, d = {};
  int i = 0;
  for (; i + 4 * kLanes <= C; i += 4 * kLanes) {
    a = add(a, i);
    b = add(b, i + kLanes);
    c = add(c, i + 2 * kLanes);
    d = add(d, i + 3 * kLanes);
  }
  if (i < C) a = add(a, i);
  if (i + kLanes < C) b = add(b, i + kLanes);
  if (i + 2 * kLanes < C) c = add(c, i + 2 * kLanes);
  return sum16((a + b) + (c + d));
}

struct Moments {
  float mean = 0;
  float rstd = 0;
};

// z [C] with the sum of its elements: two passes, so that a large mean costs no digits.
inline Moments moments(const float* z, float sum, int C, float eps) {
  Moments m;
  m.mean = sum / static_cast<float>(C);
  const f32x16 mean = splat(m.mean);
  const float squares = sum_columns(C, [&](f32x16 sum_so_far, int i) {
    const f32x16 d = load16(z + i) - mean;
    return fma(d, d, sum_so_far);
  });
  m.rstd = 1.0f / std::sqrt(squares / static_cast<float>(C) + eps);
  return m;
}

inline f32x16 normalized(f32x16 z, f32x16 mean, f32x16 rstd) {
  return (z - mean) * rstd;
}

inline void keep(const RowStats& stats, std::int64_t row, const Moments& m) {
  if (stats.mean == nullptr) return;
  stats.mean[row] = m.mean;
  stats.rstd[row] = m.rstd;
}

// Rows taken through the passes together, so that the end of one row's sum does not hold up the next.
// More of them, with what is fetched ahead, would crowd the first-level cache.
constexpr int kForwardRows = 2;
constexpr int kBackwardRows = 2;

// y = z normalised, times gamma plus beta, and dropped out where kDrop.
template <bool kDrop, typename T>
inline void write_normalized(T* y, const float* z, const Moments& m, const float* gamma, const float* beta,
                             int C, const RowDropout& drop, const std::uint16_t* numbers) {
  const f32x16 mean = splat(m.mean), rstd = splat(m.rstd);
  for (int i = 0; i < C; i += kLanes) {
    f32x16 value = fma(normalized(load16(z + i), mean, rstd), load16(gamma + i), load16(beta + i));
    if constexpr (kDrop) value = masked(value, numbers + i, drop);
    store16(y + i, value);
  }
}

// What a LayerNorm's backward reads and writes; rows are R in a run of C columns each.
template <typename T>
struct LayerNormBackwardRows {
  T* dz = nullptr;  // may be dy
  T* dx = nullptr;  // dropout's side branch; null: there is none, and dropout lies on dy
  const T* dy = nullptr;
  const T* z = nullptr;
  const float* mean = nullptr;
  const float* rstd = nullptr;
  const float* gamma = nullptr;
  float* dgamma = nullptr;  // [C] sums of the block so far
  float* dbeta = nullptr;
  float* dbias = nullptr;  // with dx
  int C = 0;
  int ahead = 0;  // elements from here to the rows of the next call
};

// R rows at once, with the sums of the block touched once. g and h are kept from the first pass for the
// second: cheaper than to widen and normalise again. numbers: dropout's for R * C elements, read where kDrop.
template <int R, bool kDrop, bool kBranch, typename T>
inline void layernorm_backward(const LayerNormBackwardRows<T>& a, const RowDropout& drop,
                               const std::uint16_t* numbers) {
  alignas(64) float g_rows[R * kMaxColumns];
  alignas(64) float h_rows[R * kMaxColumns];
  f32x16 mean[R], rstd[R], sum_g[R] = {}, sum_gh[R] = {};
  for (int r = 0; r < R; ++r) {
    mean[r] = splat(a.mean[r]);
    rstd[r] = splat(a.rstd[r]);
  }
  for (int i = 0; i < a.C; i += kLanes) {
    const f32x16 gamma = load16(a.gamma + i);
    f32x16 dgamma = load16(a.dgamma + i), dbeta = load16(a.dbeta + i);
    for (int r = 0; r < R; ++r) {
      const int at = r * a.C + i;
      fetch(a.dy + at + a.ahead);
      fetch(a.z + at + a.ahead);
      fetch_to_write(a.dz + at + a.ahead);
      if constexpr (kBranch) fetch_to_write(a.dx + at + a.ahead);
      f32x16 dy = load16(a.dy + at);
      if constexpr (kDrop && !kBranch) dy = masked(dy, numbers + at, drop);
      const f32x16 h = normalized(load16(a.z + at), mean[r], rstd[r]);
      const f32x16 g = dy * gamma;
      store16(g_rows + at, g);
      store16(h_rows + at, h);
      sum_g[r] += g;
      sum_gh[r] = fma(g, h, sum_gh[r]);
      dgamma = fma(dy, h, dgamma);
      dbeta += dy;
    }
    store16(a.dgamma + i, dgamma);
    store16(a.dbeta + i, dbeta);
  }
  f32x16 mean_g[R], mean_gh[R];
  for (int r = 0; r < R; ++r) {
    mean_g[r] = splat(sum16(sum_g[r]) / static_cast<float>(a.C));
    mean_gh[r] = splat(sum16(sum_gh[r]) / static_cast<float>(a.C));
  }
  for (int i = 0; i < a.C; i += kLanes) {
    f32x16 dbias = kBranch ? load16(a.dbias + i) : f32x16{};
    for (int r = 0; r < R; ++r) {
      const int at = r * a.C + i;
      const f32x16 dz = rstd[r] * fma(-load16(h_rows + at), mean_gh[r], load16(g_rows + at) - mean_g[r]);
      store16(a.dz + at, dz);
      if constexpr (kBranch) {
        const f32x16 dx = kDrop ? masked(dz, numbers + at, drop) : dz;
        dbias += store_rounded(a.dx + at, dx);
      }
    }
    if constexpr (kBranch) store16(a.dbias + i, dbias);
  }
}

}  // namespace shoal::cpu
