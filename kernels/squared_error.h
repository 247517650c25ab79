// squared_error: the loss of a regression with one output, its sum per slot, and its gradient.
//   row_loss = (logits[0] - target)^2
//   loss[w]  = inv_items[w] * sum of the slot's row losses
//   dlogits  = inv_items[w] * 2 (logits[0] - target) in column 0
// With inv_items = 1 / items of the window this is torch.nn.MSELoss over the window, as transformers'
// BertForSequenceClassification takes it for problem_type "regression".
// Shapes    logits, dlogits [rows,ld] f32; targets, row_loss [rows] f32; loss, inv_items [W]
// Needs     every live row has a target
// Writes    row_loss, loss, dlogits: overwritten (=); dlogits null: evaluation. Columns 1 .. ld and tail rows
//           of dlogits are zeros; row_loss beyond live is not written; idle entries: loss 0
// Order     rows ascending in chunks of kRowChunk, chunk sums ascending
// NaN       a NaN logit or target gives a NaN loss: nothing is hidden
#pragma once

#include "kernels/base/cost.h"
#include "kernels/base/view.h"

namespace shoal {

struct SquaredError {
  float* loss = nullptr;             // [W]
  float* row_loss = nullptr;         // [rows]
  float* dlogits = nullptr;          // [rows,ld] or null; may be logits
  const float* logits = nullptr;     // [rows,ld]
  const float* targets = nullptr;    // [rows]
  const float* inv_items = nullptr;  // [W]
  int ld = 0;
  Rows rows;
};

void check(const SquaredError& a);
Cost cost(const SquaredError& a);

}  // namespace shoal
