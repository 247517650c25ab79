// An entry's loss from its row losses: what the ops that end in a loss share.
#pragma once

#include <algorithm>

#include "kernels/base/view.h"

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

}  // namespace shoal::cpu
