// cross_entropy: softmax cross-entropy per row, its sum per slot, and its gradient.
//   row_loss = -sum_k t_k log softmax(logits)_k,  t = (1 - a) onehot(label) + a / n   (label smoothing a)
//   loss[w]  = inv_items[w] * sum of the slot's row losses
//   dlogits  = inv_items[w] * (softmax(logits) - t)
// Shapes    logits, dlogits [rows,ld] f32; labels [rows]; row_loss [rows] f32; loss, inv_items [W];
//           smoothing, n [W]
// Needs     0 <= label < n[w], or label == -1: such a row has loss 0 and gradient 0
// Writes    row_loss, loss, dlogits: overwritten (=); dlogits null: evaluation. Columns n[w] .. ld and tail
//           rows of dlogits are zeros; row_loss beyond live is not written; idle entries: loss 0
// Order     rows ascending in chunks of kRowChunk, chunk sums ascending; labels ascending
// NaN       a NaN logit gives a NaN loss: nothing is hidden
#pragma once

#include "kernels/base/cost.h"
#include "kernels/base/view.h"

namespace shoal {

struct CrossEntropy {
  float* loss = nullptr;                 // [W]
  float* row_loss = nullptr;             // [rows]
  float* dlogits = nullptr;              // [rows,ld] or null; may be logits
  const float* logits = nullptr;         // [rows,ld]
  const std::int32_t* labels = nullptr;  // [rows]
  const float* inv_items = nullptr;      // [W]
  const float* smoothing = nullptr;      // [W]
  const std::int32_t* n = nullptr;       // [W]
  int ld = 0;
  Rows rows;
};

void check(const CrossEntropy& a);
Cost cost(const CrossEntropy& a);

}  // namespace shoal
