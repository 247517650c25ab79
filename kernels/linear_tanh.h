// linear_tanh_forward: y = tanh(x w^T + b), per slot: BERT's pooler.
// Shapes    y [rows,N]; x [rows,K]; w per slot [N,K]; b per slot [N]
// Needs     as linear_forward
// Rounds    y once: tanh of the f32 sum
// Tail      zeros in rows live .. ceil128(live)
//
// tanh_backward: du = dy (1 - y^2).  Shapes du, dy, y [rows,N]; du may be dy. Rounds du once. Tail zeros.
#pragma once

#include "kernels/base/cost.h"
#include "kernels/base/view.h"

namespace shoal {

struct LinearTanhForward {
  DType dtype = DType::kF32;
  void* y = nullptr;        // [rows,N]
  const void* x = nullptr;  // [rows,K]
  Param w;                  // [N,K]
  Param b;                  // [N]
  int N = 0;
  int K = 0;
  Rows rows;
};

struct TanhBackward {
  DType dtype = DType::kF32;
  void* du = nullptr;        // [rows,N]
  const void* dy = nullptr;  // [rows,N]
  const void* y = nullptr;   // [rows,N]
  int N = 0;
  Rows rows;
};

void check(const LinearTanhForward& a);
Cost cost(const LinearTanhForward& a);
void check(const TanhBackward& a);
Cost cost(const TanhBackward& a);

}  // namespace shoal
