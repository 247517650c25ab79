// linear_backward_weight_group: all weight, bias and LayerNorm gradients of a layer in one launch.
//
// Per weight item, per slot:  dw = dy^T x,  db = column sums of dy.
// Shapes    dw per slot [N,K] f32; db per slot [N] f32 or none; dy [rows,N]; x [rows,K]
// Per norm item, per slot: the second stage of a LayerNorm backward: dgamma, dbeta (and the bias of
// the linear before it) = sums of the 128-row partials that belong to the slot.
// Shapes    partial [rows/128, 3, C] f32: planes dgamma, dbeta, dbias; gradients per slot [C] f32
// Dtypes    dy, x: dtype; sums and gradients f32
// Needs     N % 16 == 0, K % 16 == 0; items may use different Rows (the [CLS]-only last layer does)
// Writes    by mode of each entry: skip | set (=) | add (+=). A frozen gradient (base null) is not formed
// Order     k (rows) ascending in chunks of at most 4,096 rows, each chunk's sum added to f32 memory;
//           column sums over chunks of kRowChunk rows, ascending
// Tail      reads rows up to ceil16(live), which hold zeros
// Idle      live == 0: set writes zeros, add changes nothing
// Repeat    bitwise; chunks depend on the slot's own live count alone
#pragma once

#include "kernels/base/cost.h"
#include "kernels/base/view.h"

namespace shoal {

struct WeightGradientItem {
  Grad dw;                   // [N,K]
  Grad db;                   // [N]; base == nullptr: none
  const void* dy = nullptr;  // [rows,N]
  const void* x = nullptr;   // [rows,K]
  int N = 0;
  int K = 0;
  Rows rows;
};

struct NormGradientItem {
  const float* partial = nullptr;  // [rows/128, 3, C]
  Grad dgamma;                     // [C]
  Grad dbeta;                      // [C]
  Grad dbias;                      // [C]; base == nullptr: none
  int C = 0;
  Rows rows;
};

struct LinearBackwardWeightGroup {
  static constexpr int kMaxItems = 8;
  static constexpr int kMaxNorms = 4;
  DType dtype = DType::kF32;
  int items = 0;
  WeightGradientItem item[kMaxItems];
  int norms = 0;
  NormGradientItem norm[kMaxNorms];
};

void check(const LinearBackwardWeightGroup& a);
Cost cost(const LinearBackwardWeightGroup& a);

}  // namespace shoal
