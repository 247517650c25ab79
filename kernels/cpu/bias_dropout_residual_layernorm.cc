// The CPU form of bias_dropout_residual_layernorm.h: row by row, everything between the loads of a row
// and its stores in the first-level cache.
#include "kernels/bias_dropout_residual_layernorm.h"

#include <algorithm>

#include "kernels/cpu/context.h"
#include "kernels/cpu/layernorm_rows.h"
#include "kernels/cpu/row_blocks.h"

namespace shoal::cpu {
namespace {

constexpr int kForwardBlock = 16;  // rows a thread takes at once: small blocks spread short slots evenly

// z of row r of the block's entry, rounded, into row [C] and a.z; the sum of its elements.
template <typename T, bool kDrop>
float residual_row(const BiasDropoutResidualLayerNormForward& a, const RowBlock& block, std::int64_t r,
                   const T* b, const RowDropout& drop, float* row) {
  const T* x = row_of<T>(a.x, block.row0 + r, a.C);
  const T* residual = row_of<T>(a.residual, block.row0 + r, a.C);
  T* z = a.z != nullptr ? row_of<T>(a.z, block.row0 + r, a.C) : nullptr;
  T* y = row_of<T>(a.y, block.row0 + r, a.C);
  const int ahead = r + kForwardRows < a.rows.live[block.w] ? kForwardRows * a.C : 0;
  alignas(64) std::uint16_t numbers[kDrop ? kMaxColumns : 1];
  if constexpr (kDrop) dropout_numbers(numbers, drop, r * a.C, a.C);
  return sum_columns(a.C, [&](f32x16 sum_so_far, int i) {
    fetch(x + i + ahead);
    fetch(residual + i + ahead);
    if (z != nullptr) fetch_to_write(z + i + ahead);
    fetch_to_write(y + i + ahead);
    f32x16 value = load16(x + i) + load16(b + i);
    if constexpr (kDrop) value = masked(value, numbers + i, drop);
    value += load16(residual + i);
    value = z != nullptr ? store_rounded(z + i, value) : round_to<T>(value);
    store16(row + i, value);
    return sum_so_far + value;
  });
}

template <typename T, bool kDrop>
void forward_block(const BiasDropoutResidualLayerNormForward& a, const RowBlock& block,
                   const RowDropout& drop) {
  const int slot = a.rows.slot[block.w];
  const float* gamma = of_slot<float>(a.gamma, slot);
  const float* beta = of_slot<float>(a.beta, slot);
  alignas(64) float row[kForwardRows * kMaxColumns];
  float sum[kForwardRows];
  Moments m[kForwardRows];
  for (std::int64_t r = block.first; r < block.last; r += kForwardRows) {
    const int count = static_cast<int>(std::min<std::int64_t>(kForwardRows, block.last - r));
    for (int k = 0; k < count; ++k) {
      sum[k] = residual_row<T, kDrop>(a, block, r + k, of_slot<T>(a.b, slot), drop, row + k * a.C);
    }
    for (int k = 0; k < count; ++k) m[k] = moments(row + k * a.C, sum[k], a.C, a.eps);
    for (int k = 0; k < count; ++k) {
      const std::int64_t at = block.row0 + r + k;
      write_normalized<false>(row_of<T>(a.y, at, a.C), row + k * a.C, m[k], gamma, beta, a.C, drop, nullptr);
      keep(a.stats, at, m[k]);
    }
  }
  zero_rows(row_of<T>(a.y, block.row0, a.C), block.last, block.tail, a.C);
  if (a.z != nullptr) zero_rows(row_of<T>(a.z, block.row0, a.C), block.last, block.tail, a.C);
}

template <typename T, bool kDrop>
void backward_block(const BiasDropoutResidualLayerNormBackward& a, const RowBlock& block,
                    const RowDropout& drop) {
  const std::int64_t first = block.row0 + block.first;
  LayerNormBackwardRows<T> rows;
  rows.C = a.C;
  rows.gamma = of_slot<float>(a.gamma, a.rows.slot[block.w]);
  rows.dgamma = a.partial + first / kRowChunk * 3 * a.C;
  rows.dbeta = rows.dgamma + a.C;
  rows.dbias = rows.dbeta + a.C;
  zero_rows(rows.dgamma, 0, 3, a.C);
  alignas(64) std::uint16_t numbers[kDrop ? kBackwardRows * kMaxColumns : 1];
  for (std::int64_t r = block.first; r < block.last;) {
    const std::int64_t at = block.row0 + r;
    rows.dz = row_of<T>(a.dz, at, a.C);
    rows.dx = row_of<T>(a.dx, at, a.C);
    rows.dy = row_of<T>(a.dy, at, a.C);
    rows.z = row_of<T>(a.z, at, a.C);
    rows.mean = a.stats.mean + at;
    rows.rstd = a.stats.rstd + at;
    const int count = block.last - r >= kBackwardRows ? kBackwardRows : 1;
    rows.ahead = r + 2 * count <= a.rows.live[block.w] ? count * a.C : 0;
    if constexpr (kDrop) dropout_numbers(numbers, drop, r * a.C, count * a.C);
    if (count == kBackwardRows) {
      layernorm_backward<kBackwardRows, kDrop, true>(rows, drop, numbers);
    } else {
      layernorm_backward<1, kDrop, true>(rows, drop, numbers);
    }
    r += count;
  }
  zero_rows(row_of<T>(a.dz, block.row0, a.C), block.last, block.tail, a.C);
  zero_rows(row_of<T>(a.dx, block.row0, a.C), block.last, block.tail, a.C);
}

}  // namespace

void bias_dropout_residual_layernorm_forward(const BiasDropoutResidualLayerNormForward& a, Stream stream) {
  check(a);
  with_type(a.dtype, [&](auto type) {
    using T = decltype(type);
    for_row_blocks(context(stream), a.rows, kForwardBlock, [&](const RowBlock& block) {
      const RowDropout drop = row_dropout(a.drop, block.w);
      drop.active ? forward_block<T, true>(a, block, drop) : forward_block<T, false>(a, block, drop);
    });
  });
}

void bias_dropout_residual_layernorm_backward(const BiasDropoutResidualLayerNormBackward& a, Stream stream) {
  check(a);
  with_type(a.dtype, [&](auto type) {
    using T = decltype(type);
    for_row_blocks(context(stream), a.rows, kRowChunk, [&](const RowBlock& block) {
      const RowDropout drop = row_dropout(a.drop, block.w);
      drop.active ? backward_block<T, true>(a, block, drop) : backward_block<T, false>(a, block, drop);
    });
  });
}

}  // namespace shoal::cpu
