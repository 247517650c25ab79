// classifier_forward: logits = x w^T + b, with each slot's own number of labels n[w].
// Shapes    logits [rows,ld] f32; x [rows,C]; w per slot [n,C]; b per slot [n]; n [W]
// Dtypes    x, w, b: dtype; logits f32, not rounded
// Needs     C % 16 == 0; n[w] <= ld (the loader has made sure)
// Writes    logits: columns 0 .. n[w] of live rows (=), columns n[w] .. ld zeros; tail rows zeros
// Order     k ascending by a form that depends on C alone: a label's logit does not depend on n or ld
//
// classifier_backward: dx = dlogits w; dw = dlogits^T x; db = column sums of dlogits.
// Shapes    dx [rows,C]; dlogits [rows,ld] f32; dw per slot [n,C], db per slot [n] f32
// Writes    dx: overwritten (=), tail zeros; dw, db by mode, own n[w] rows alone
// Rounds    dx once; dlogits enter unrounded
// Order     dw, db: rows ascending in chunks of kRowChunk, each chunk's sum added to f32 memory
#pragma once

#include "kernels/base/cost.h"
#include "kernels/base/view.h"

namespace shoal {

struct ClassifierForward {
  DType dtype = DType::kF32;
  float* logits = nullptr;          // [rows,ld]
  const void* x = nullptr;          // [rows,C]
  Param w;                          // [n,C]
  Param b;                          // [n]
  const std::int32_t* n = nullptr;  // [W]
  int ld = 0;
  int C = 0;
  Rows rows;
};

struct ClassifierBackward {
  DType dtype = DType::kF32;
  void* dx = nullptr;               // [rows,C]
  Grad dw;                          // [n,C]
  Grad db;                          // [n]
  const float* dlogits = nullptr;   // [rows,ld]
  const void* x = nullptr;          // [rows,C]
  Param w;                          // [n,C]
  const std::int32_t* n = nullptr;  // [W]
  int ld = 0;
  int C = 0;
  Rows rows;
};

void check(const ClassifierForward& a);
Cost cost(const ClassifierForward& a);
void check(const ClassifierBackward& a);
Cost cost(const ClassifierBackward& a);

}  // namespace shoal
