// The CPU form of embedding_layernorm.h's LayerNorm part: gather, sum, normalise, drop; and back to dz.
#include "kernels/embedding_layernorm.h"

#include <algorithm>

#include "kernels/cpu/context.h"
#include "kernels/cpu/layernorm_rows.h"
#include "kernels/cpu/row_blocks.h"

namespace shoal::cpu {
namespace {

constexpr int kForwardBlock = 16;  // rows a thread takes at once: small blocks spread short slots evenly

// z of activation row `at`, rounded, into row [C] and a.z; the sum of its elements. `next` is a row to come.
template <typename T>
float embedding_row(const EmbeddingLayerNormForward& a, int slot, std::int64_t at, std::int64_t next,
                    float* row) {
  const std::int64_t C = a.C;
  const float* word = of_slot<float>(a.word, slot) + a.ids[at] * C;
  const float* position = of_slot<float>(a.position, slot) + a.positions[at] * C;
  const float* type = of_slot<float>(a.type, slot) + a.types[at] * C;
  const float* next_word = of_slot<float>(a.word, slot) + a.ids[next] * C;
  T* z = a.z != nullptr ? row_of<T>(a.z, at, a.C) : nullptr;
  T* next_z = a.z != nullptr ? row_of<T>(a.z, next, a.C) : nullptr;
  T* next_y = row_of<T>(a.y, next, a.C);
  return sum_columns(a.C, [&](f32x16 sum_so_far, int i) {
    fetch(next_word + i);
    if (z != nullptr) fetch_to_write(next_z + i);
    fetch_to_write(next_y + i);
    f32x16 value = load16(word + i) + load16(position + i) + load16(type + i);
    value = z != nullptr ? store_rounded(z + i, value) : round_to<T>(value);
    store16(row + i, value);
    return sum_so_far + value;
  });
}

template <typename T, bool kDrop>
void forward_block(const EmbeddingLayerNormForward& a, const RowBlock& block, const RowDropout& drop) {
  const int slot = a.rows.slot[block.w];
  const float* gamma = of_slot<float>(a.gamma, slot);
  const float* beta = of_slot<float>(a.beta, slot);
  alignas(64) float row[kForwardRows * kMaxColumns];
  alignas(64) std::uint16_t numbers[kDrop ? kMaxColumns : 1];
  float sum[kForwardRows];
  Moments m[kForwardRows];
  for (std::int64_t r = block.first; r < block.last; r += kForwardRows) {
    const int count = static_cast<int>(std::min<std::int64_t>(kForwardRows, block.last - r));
    for (int k = 0; k < count; ++k) {
      const std::int64_t next = std::min<std::int64_t>(r + k + kForwardRows, a.rows.live[block.w] - 1);
      sum[k] = embedding_row<T>(a, slot, block.row0 + r + k, block.row0 + next, row + k * a.C);
    }
    for (int k = 0; k < count; ++k) m[k] = moments(row + k * a.C, sum[k], a.C, a.eps);
    for (int k = 0; k < count; ++k) {
      const std::int64_t at = block.row0 + r + k;
      if constexpr (kDrop) dropout_numbers(numbers, drop, (r + k) * a.C, a.C);
      write_normalized<kDrop>(row_of<T>(a.y, at, a.C), row + k * a.C, m[k], gamma, beta, a.C, drop, numbers);
      keep(a.stats, at, m[k]);
    }
  }
  zero_rows(row_of<T>(a.y, block.row0, a.C), block.last, block.tail, a.C);
  if (a.z != nullptr) zero_rows(row_of<T>(a.z, block.row0, a.C), block.last, block.tail, a.C);
}

template <typename T, bool kDrop>
void backward_block(const EmbeddingLayerNormBackward& a, const RowBlock& block, const RowDropout& drop) {
  const std::int64_t first = block.row0 + block.first;
  LayerNormBackwardRows<T> rows;
  rows.C = a.C;
  rows.gamma = of_slot<float>(a.gamma, a.rows.slot[block.w]);
  rows.dgamma = a.partial + first / kRowChunk * 3 * a.C;
  rows.dbeta = rows.dgamma + a.C;
  zero_rows(rows.dgamma, 0, 3, a.C);  // there is no bias: its plane stays zero
  alignas(64) std::uint16_t numbers[kDrop ? kBackwardRows * kMaxColumns : 1];
  for (std::int64_t r = block.first; r < block.last;) {
    const std::int64_t at = block.row0 + r;
    rows.dz = row_of<T>(a.dz, at, a.C);
    rows.dy = row_of<T>(a.dy, at, a.C);
    rows.z = row_of<T>(a.z, at, a.C);
    rows.mean = a.stats.mean + at;
    rows.rstd = a.stats.rstd + at;
    const int count = block.last - r >= kBackwardRows ? kBackwardRows : 1;
    rows.ahead = r + 2 * count <= a.rows.live[block.w] ? count * a.C : 0;
    if constexpr (kDrop) dropout_numbers(numbers, drop, r * a.C, count * a.C);
    if (count == kBackwardRows) {
      layernorm_backward<kBackwardRows, kDrop, false>(rows, drop, numbers);
    } else {
      layernorm_backward<1, kDrop, false>(rows, drop, numbers);
    }
    r += count;
  }
  zero_rows(row_of<T>(a.dz, block.row0, a.C), block.last, block.tail, a.C);
}

}  // namespace

void embedding_layernorm_forward(const EmbeddingLayerNormForward& a, Stream stream) {
  check(a);
  with_type(a.dtype, [&](auto type) {
    using T = decltype(type);
    for_row_blocks(context(stream), a.rows, kForwardBlock, [&](const RowBlock& block) {
      const RowDropout drop = row_dropout(a.drop, block.w);
      drop.active ? forward_block<T, true>(a, block, drop) : forward_block<T, false>(a, block, drop);
    });
  });
}

void embedding_layernorm_backward(const EmbeddingLayerNormBackward& a, Stream stream) {
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
