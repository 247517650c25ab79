// gradient_norm: the L2 norm of each updating slot's gradients, its clip factor, and whether all is finite.
//   norm = sqrt(sum g^2) over the slot's own extents; coef = min(1, max_norm / (norm + 1e-6)), or 1 where
//   max_norm <= 0 (torch.nn.utils.clip_grad_norm_); nonfinite = norm, or the loss, is NaN or infinite: an
//   infinite loss may have finite gradients
// Shapes    grad per slot [P] f32; norm, coef, nonfinite, update, max_norm [W]; partial [W, chunks] f32
// Order     one partial per kParamChunk elements of one tensor, chunks counted from the tensor's own
//           start, summed ascending in double: the extents of a neighbour change nothing
// Writes    norm, coef, nonfinite of entries with update[w] != 0 (=); others untouched
//
// adamw: decoupled weight decay Adam (Loshchilov and Hutter, arXiv 1711.05101), torch.optim.AdamW's order:
//   p *= decay (tensors of the decay group);  g = coef grad;  m = beta1 m + (1-beta1) g;
//   v = beta2 v + (1-beta2) g g;  p -= step_size m / (sqrt(v) / bias2_sqrt + eps)
// Shapes    p per slot [row] f32, p16 its dtype copy or null; m, v, grad per slot [train row] f32
// Writes    own extents of entries with update[w] != 0 and nonfinite[w] == 0; p16 = round(p) in the same
//           pass. Tensors marked sparse: their gradient is zero again afterwards, also where nonfinite
//           held the update back
// Touched   marks [R, stride / kTouchRun], one for each run of kTouchRun elements of the training row, or
//           null. Read in sparse tensors alone: 0 says that gradient, m and v of the run are zero bits, and
//           the run is left unread (gradient_norm: it adds nothing; adamw: it moves by the decay alone).
//           embedding_backward sets them; who fills a slot clears them. The results are the bits of null
// Needs     p16 = round(p) before the call, where a sparse tensor's gradient, m and v are zero (a device
//           may leave such elements unread: they move by the decay alone); eps >= 0
// Rounds    m and v once each; a result below the smallest normal number may be stored as 0
// Repeat    bitwise; an element depends on itself and its slot's scalars alone
#pragma once

#include "kernels/base/cost.h"
#include "kernels/base/view.h"

namespace shoal {

constexpr std::int64_t kParamChunk = 16384;  // elements

// One trainable tensor of the rows.
struct ParamSpan {
  std::int64_t offset = 0;        // in the weight row
  std::int64_t train_offset = 0;  // in the training rows
  std::int64_t capacity = 0;      // elements
  std::int32_t decay = 0;         // 1: weight decay applies
  std::int32_t sparse = 0;        // 1: word embeddings, see embedding_backward
};

// Part of one tensor: elements begin .. min(begin + kParamChunk, own elements).
struct ParamChunk {
  std::int32_t tensor = 0;
  std::int64_t begin = 0;
};

// Static tables in device memory, and each slot's own extents.
struct ParamTable {
  int tensors = 0;
  int chunks = 0;
  const ParamSpan* span = nullptr;    // [tensors]
  const ParamChunk* chunk = nullptr;  // [chunks], by tensor, then ascending
  const std::int64_t* own = nullptr;  // [R, tensors] own elements of each slot
};

struct GradientNorm {
  float* norm = nullptr;              // [W]
  float* coef = nullptr;              // [W]
  std::int32_t* nonfinite = nullptr;  // [W]
  float* partial = nullptr;           // [W, chunks] scratch
  const float* grad = nullptr;        // [R, stride]
  const float* loss = nullptr;        // [W] of the closing micro-batch, or null: the norm alone decides
  std::int64_t stride = 0;
  const std::uint8_t* touched = nullptr;  // [R, stride / kTouchRun] or null
  ParamTable table;
  int W = 0;
  const std::int32_t* slot = nullptr;    // [W]
  const std::int32_t* update = nullptr;  // [W]
  const float* max_norm = nullptr;       // [W]
};

// Scalars of one slot's update, made on the host in double.
struct AdamWScalars {
  float beta1 = 0;
  float one_minus_beta1 = 0;
  float beta2 = 0;
  float one_minus_beta2 = 0;
  float eps = 0;
  float decay = 1;       // 1 - lr * weight_decay
  float step_size = 0;   // lr / (1 - beta1^t)
  float bias2_sqrt = 1;  // sqrt(1 - beta2^t)
};

struct AdamW {
  float* p = nullptr;     // [R, row_stride]
  bf16* p16 = nullptr;    // [R, row_stride] or null
  float* m = nullptr;     // [R, train_stride]
  float* v = nullptr;     // [R, train_stride]
  float* grad = nullptr;  // [R, train_stride]; written only where sparse
  std::int64_t row_stride = 0;
  std::int64_t train_stride = 0;
  const std::uint8_t* touched = nullptr;  // [R, train_stride / kTouchRun] or null
  ParamTable table;
  int W = 0;
  const std::int32_t* slot = nullptr;       // [W]
  const std::int32_t* update = nullptr;     // [W]
  const float* coef = nullptr;              // [W]
  const std::int32_t* nonfinite = nullptr;  // [W]
  const AdamWScalars* scalars = nullptr;    // [W]
};

void check(const GradientNorm& a);
Cost cost(const GradientNorm& a);  // of own == capacity, all entries updating
void check(const AdamW& a);
Cost cost(const AdamW& a);

}  // namespace shoal
