// linear_forward: y = x w^T + b, per slot.
// Shapes    y [rows,N]; x [rows,K]; w per slot [N,K]; b per slot [N] or none
// Dtypes    x, w, b, y: dtype; sums in f32
// Needs     N % 16 == 0, K % 16 == 0; pointers 64-byte aligned; nothing overlaps
// Writes    y: overwritten (=)
// Rounds    y once, after the bias
// Tail      zeros in rows live .. ceil128(live) (a bias must not leak there)
// Repeat    bitwise; a slot's y depends on its own rows and weights alone: its form follows its own
//           live count, never the lane's
// Reference kernels/reference/linear.h
//
// linear_backward_input: dx = dy w  (add: dx += dy w, one rounding of the f32 sum), per slot.
// Shapes    dx [rows,K]; dy [rows,N]; w per slot [N,K]
// Everything else as above. Rounds dx once.
#pragma once

#include "kernels/base/cost.h"
#include "kernels/base/view.h"

namespace shoal {

struct LinearForward {
  DType dtype = DType::kF32;
  void* y = nullptr;        // [rows,N]
  const void* x = nullptr;  // [rows,K]
  Param w;                  // [N,K]
  Param b;                  // [N]; base == nullptr: no bias
  int N = 0;
  int K = 0;
  Rows rows;
};

struct LinearBackwardInput {
  DType dtype = DType::kF32;
  void* dx = nullptr;        // [rows,K]
  const void* dy = nullptr;  // [rows,N]
  Param w;                   // [N,K]
  bool add = false;
  int N = 0;
  int K = 0;
  Rows rows;
};

void check(const LinearForward& a);
Cost cost(const LinearForward& a);  // of a lane whose rows are all live
void check(const LinearBackwardInput& a);
Cost cost(const LinearBackwardInput& a);

}  // namespace shoal
