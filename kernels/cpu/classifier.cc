// The CPU form of classifier.h: few labels (2 .. 200), so the weights stay in cache and rows stream by.
//
// All products work on tiles of kTile rows or labels at once. A tile at an edge repeats its last row or
// label and drops what it has twice: one code path, so a logit's bits depend on its row, its label's
// weights and C alone.
#include "kernels/classifier.h"

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/context.h"
#include "kernels/cpu/f32x16.h"
#include "kernels/cpu/row_blocks.h"

namespace shoal::cpu {
namespace {

constexpr int kTile = 4;    // rows, labels, or vectors of columns, in registers at once
constexpr int kBlock = 16;  // rows a thread takes at once: multiple of kTile
constexpr int kColumns = kTile * kLanes;

// logits of kTile rows and labels: one chain of sixteen lanes each, k ascending.
template <typename T>
void dot_tile(float (&dot)[kTile][kTile], const T* const (&x)[kTile], const T* const (&w)[kTile], int C) {
  f32x16 sum[kTile][kTile] = {};
  for (int k = 0; k < C; k += kLanes) {
    f32x16 weights[kTile];
    for (int j = 0; j < kTile; ++j) weights[j] = load16(w[j] + k);
    for (int i = 0; i < kTile; ++i) {
      const f32x16 row = load16(x[i] + k);
      for (int j = 0; j < kTile; ++j) sum[i][j] = fma(row, weights[j], sum[i][j]);
    }
  }
  for (int i = 0; i < kTile; ++i) {
    for (int j = 0; j < kTile; ++j) dot[i][j] = sum16(sum[i][j]);
  }
}

template <typename T>
void forward_block(const ClassifierForward& a, const RowBlock& block) {
  const int slot = a.rows.slot[block.w], n = a.n[block.w];
  const T* weights = of_slot<T>(a.w, slot);
  const T* bias = of_slot<T>(a.b, slot);
  float* logits = a.logits + block.row0 * a.ld;
  for (std::int64_t r = block.first; r < block.last; ++r)
    std::fill(logits + r * a.ld + n, logits + (r + 1) * a.ld, 0.0f);
  for (int label = 0; label < n; label += kTile) {
    const T* w[kTile];
    for (int j = 0; j < kTile; ++j) w[j] = row_of<T>(weights, std::min(label + j, n - 1), a.C);
    for (std::int64_t r = block.first; r < block.last; r += kTile) {
      const T* x[kTile];
      for (int i = 0; i < kTile; ++i)
        x[i] = row_of<T>(a.x, block.row0 + std::min(r + i, block.last - 1), a.C);
      float dot[kTile][kTile];
      dot_tile(dot, x, w, a.C);
      for (int i = 0; i < kTile && r + i < block.last; ++i) {
        for (int j = 0; j < kTile && label + j < n; ++j) {
          logits[(r + i) * a.ld + label + j] = dot[i][j] + static_cast<float>(bias[label + j]);
        }
      }
    }
  }
  zero_rows(logits, block.last, block.tail, a.ld);
}

// dx of kTile rows in up to kColumns columns from `column`: labels ascending.
template <typename T>
void input_tile(T* const (&dx)[kTile], const float* const (&dlogits)[kTile], const T* w, int n, int C,
                int column) {
  const int vectors = std::min(kTile, (C - column) / kLanes);
  int offset[kTile];
  for (int v = 0; v < kTile; ++v) offset[v] = column + std::min(v, vectors - 1) * kLanes;
  f32x16 sum[kTile][kTile] = {};
  for (int k = 0; k < n; ++k) {
    f32x16 weights[kTile];
    for (int v = 0; v < kTile; ++v) weights[v] = load16(w + static_cast<std::int64_t>(k) * C + offset[v]);
    for (int i = 0; i < kTile; ++i) {
      const f32x16 d = splat(dlogits[i][k]);
      for (int v = 0; v < kTile; ++v) sum[i][v] = fma(d, weights[v], sum[i][v]);
    }
  }
  for (int i = 0; i < kTile; ++i) {
    for (int v = 0; v < kTile; ++v) store16(dx[i] + offset[v], sum[i][v]);
  }
}

template <typename T>
void input_block(const ClassifierBackward& a, const RowBlock& block) {
  const T* w = of_slot<T>(a.w, a.rows.slot[block.w]);
  for (std::int64_t r = block.first; r < block.last; r += kTile) {
    T* dx[kTile];
    const float* dlogits[kTile];
    for (int i = 0; i < kTile; ++i) {
      const std::int64_t at = block.row0 + std::min(r + i, block.last - 1);
      dx[i] = row_of<T>(a.dx, at, a.C);
      dlogits[i] = a.dlogits + at * a.ld;
    }
    for (int column = 0; column < a.C; column += kColumns)
      input_tile(dx, dlogits, w, a.n[block.w], a.C, column);
  }
  zero_rows(row_of<T>(a.dx, block.row0, a.C), block.last, block.tail, a.C);
}

// dw of kTile labels from `label` in up to kColumns columns, over rows first .. last: rows ascending. The
// first rows of an entry set or add by its mode, the others add.
template <typename T>
void weight_tile(const ClassifierBackward& a, int w, int label, int column, std::int64_t first,
                 std::int64_t last) {
  const int n = a.n[w], vectors = std::min(kTile, (a.C - column) / kLanes),
            labels = std::min(kTile, n - label);
  const T* x = row_of<T>(a.x, a.rows.row0[w], a.C) + column;
  const float* dlogits = a.dlogits + static_cast<std::int64_t>(a.rows.row0[w]) * a.ld + label;
  f32x16 sum[kTile][kTile] = {};
  for (std::int64_t r = first; r < last; ++r) {
    f32x16 row[kTile];
    for (int v = 0; v < kTile; ++v) row[v] = load16(x + r * a.C + std::min(v, vectors - 1) * kLanes);
    for (int j = 0; j < kTile; ++j) {
      const f32x16 d = splat(dlogits[r * a.ld + std::min(j, labels - 1)]);
      for (int v = 0; v < kTile; ++v) sum[j][v] = fma(d, row[v], sum[j][v]);
    }
  }
  const bool add = first > 0 || a.dw.mode[w] == GradMode::kAdd;
  for (int j = 0; j < labels; ++j) {
    float* dw = of_entry(a.dw, a.rows, w) + static_cast<std::int64_t>(label + j) * a.C + column;
    for (int v = 0; v < vectors; ++v) {
      store16(dw + v * kLanes, add ? load16(dw + v * kLanes) + sum[j][v] : sum[j][v]);
    }
  }
}

// dw in up to kColumns columns: kRowChunk rows at a time, which stay in cache for all labels.
template <typename T>
void weight_columns(const ClassifierBackward& a, int w, int column) {
  std::int64_t first = 0;
  do {
    const std::int64_t last = std::min<std::int64_t>(a.rows.live[w], first + kRowChunk);
    for (int label = 0; label < a.n[w]; label += kTile) weight_tile<T>(a, w, label, column, first, last);
    first = last;
  } while (first < a.rows.live[w]);
}

void bias_gradient(const ClassifierBackward& a, int w, int label) {
  const float* dlogits = a.dlogits + static_cast<std::int64_t>(a.rows.row0[w]) * a.ld + label;
  float sum = 0;
  for (std::int64_t r = 0; r < a.rows.live[w]; ++r) sum += dlogits[r * a.ld];
  float& db = of_entry(a.db, a.rows, w)[label];
  db = a.db.mode[w] == GradMode::kAdd ? db + sum : sum;
}

template <typename T>
void parameter_gradients(const ClassifierBackward& a, const Context& context) {
#pragma omp parallel num_threads(context.threads)
  for (int w = 0; w < a.rows.W; ++w) {
    if (writes(a.dw, a.rows, w)) {
#pragma omp for schedule(dynamic, 1) nowait
      for (int column = 0; column < a.C; column += kColumns) weight_columns<T>(a, w, column);
    }
    if (writes(a.db, a.rows, w)) {
#pragma omp for schedule(static) nowait
      for (int label = 0; label < a.n[w]; ++label) bias_gradient(a, w, label);
    }
  }
}

}  // namespace

void classifier_forward(const ClassifierForward& a, Stream stream) {
  check(a);
  with_type(a.dtype, [&](auto type) {
    using T = decltype(type);
    for_row_blocks(context(stream), a.rows, kBlock,
                   [&](const RowBlock& block) { forward_block<T>(a, block); });
  });
}

void classifier_backward(const ClassifierBackward& a, Stream stream) {
  check(a);
  with_type(a.dtype, [&](auto type) {
    using T = decltype(type);
    for_row_blocks(context(stream), a.rows, kBlock, [&](const RowBlock& block) { input_block<T>(a, block); });
    parameter_gradients<T>(a, context(stream));
  });
}

}  // namespace shoal::cpu
