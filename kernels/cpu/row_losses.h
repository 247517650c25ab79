// What the ops that end in a loss share: row after row, then each entry's loss from its row losses.
#pragma once

#include <algorithm>

#include "kernels/base/view.h"
#include "kernels/cpu/context.h"
#include "kernels/cpu/row_blocks.h"

namespace shoal::cpu {

// inv_items * sum, rows ascending in chunks of kRowChunk, chunk sums ascending; 0 for an idle entry.
inline float loss_of(const float* row_loss, const Rows& rows, int w, float inv_items) {
  const float* const losses = row_loss + rows.row0[w];
  double loss = 0;
  for (std::int64_t first = 0; first < rows.live[w]; first += kRowChunk) {
    const std::int64_t last = std::min<std::int64_t>(rows.live[w], first + kRowChunk);
    double chunk = 0;
    for (std::int64_t r = first; r < last; ++r) chunk += losses[r];
    loss += chunk;
  }
  return rows.live[w] > 0 ? static_cast<float>(inv_items * loss) : 0.0f;
}

// row(a, w, at) makes row_loss[at] and, unless dlogits is null, the row of dlogits. A thread takes `block`
// rows at once.
template <typename Loss, typename Row>
void row_losses(const Loss& a, const Context& context, int block, const Row& row) {
  for_row_blocks(context, a.rows, block, [&](const RowBlock& b) {
    for (std::int64_t r = b.first; r < b.last; ++r) row(a, b.w, b.row0 + r);
    if (a.dlogits != nullptr) zero_rows(a.dlogits + b.row0 * a.ld, b.last, b.tail, a.ld);
  });
  for (int w = 0; w < a.rows.W; ++w) a.loss[w] = loss_of(a.row_loss, a.rows, w, a.inv_items[w]);
}

}  // namespace shoal::cpu
