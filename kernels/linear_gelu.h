// linear_gelu_forward: u = x w^T + b, g = gelu(u) in the form asked for, per slot.
// Shapes    u, g [rows,N]; x [rows,K]; w per slot [N,K]; b per slot [N]
// Dtypes    dtype; sums and gelu in f32. For bf16, gelu may be coarse by 2^-12 of itself, an
//           eighth of what the rounding of the result may cost
// Needs     as linear_forward
// Writes    u, g: overwritten (=). u may be null where no backward follows
// Rounds    u once; g = round(gelu(rounded u)), so that g recomputed from u has the same bits
// Tail      zeros in rows live .. ceil128(live) of both
// Reference kernels/reference/linear.h, gelu.h
//
// linear_dgelu_backward: du = (dy w) * gelu'(u), per slot.
// Shapes    du, u [rows,K]; dy [rows,N]; w per slot [N,K]     (K is the feed-forward width)
// Rounds    du once: the product dy w stays in f32
// Writes    du: overwritten (=); du may be u
// Erf form: gelu(u) = u Phi(u), gelu'(u) = Phi(u) + u phi(u). Tanh form: gelu(u) = u s(u) with
// s(u) = (1 + tanh(sqrt(2 / pi) (u + 0.044715 u^3))) / 2. Hendrycks and Gimpel, arXiv 1606.08415.
#pragma once

#include <cstdint>

#include "kernels/base/cost.h"
#include "kernels/base/view.h"

namespace shoal {

// A lane runs in one form: it is a job's architecture, not a number that slots may differ in.
enum class GeluForm : std::int32_t { kErf, kTanh };

struct LinearGeluForward {
  DType dtype = DType::kF32;
  void* u = nullptr;        // [rows,N] or null
  void* g = nullptr;        // [rows,N]
  const void* x = nullptr;  // [rows,K]
  Param w;                  // [N,K]
  Param b;                  // [N]
  int N = 0;
  int K = 0;
  Rows rows;
  GeluForm form = GeluForm::kErf;
};

struct LinearDgeluBackward {
  DType dtype = DType::kF32;
  void* du = nullptr;        // [rows,K]
  const void* dy = nullptr;  // [rows,N]
  const void* u = nullptr;   // [rows,K]
  Param w;                   // [N,K]
  int N = 0;
  int K = 0;
  Rows rows;
  GeluForm form = GeluForm::kErf;
};

void check(const LinearGeluForward& a);
Cost cost(const LinearGeluForward& a);
void check(const LinearDgeluBackward& a);
Cost cost(const LinearDgeluBackward& a);

}  // namespace shoal
