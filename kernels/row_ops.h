// Ops that move rows about.
//
// gather_rows: y[row0_to[w] + i] = x[row0_from[w] + index[row0_to[w] + i]] for i < live_to[w].
// Shapes    y [to.rows,C]; x [from.rows,C]; index [to.rows], relative to the slot's row0 in `from`
// Tail      zeros in rows live .. ceil128(live) of y
//
// scatter_rows: the gradient of gather_rows: dx = 0, then dx[index] = dy, per slot.
// Shapes    dx [from.rows,C]; dy [to.rows,C]. Indices of one slot are distinct
// Writes    dx: rows 0 .. ceil128(live_from): zeros but for the indexed ones. add: dx += there, the rest
//           untouched
//
// dropout: y = x * mask, scaled; its own backward with x = dy. Rounds y once; y may be x. Tail zeros. A
// dropped element is an exact 0, even of NaN or infinity.
//
// cast_rows: the dtype copy of f32 parameters of the named slots: to[slot * stride + i] =
// round(from[slot * stride + i]) for i < elements. Used after an import; the optimizer keeps it up.
#pragma once

#include "kernels/base/cost.h"
#include "kernels/base/view.h"

namespace shoal {

struct GatherRows {
  DType dtype = DType::kF32;
  void* y = nullptr;                    // [to.rows,C]
  const void* x = nullptr;              // [from.rows,C]
  const std::int32_t* index = nullptr;  // [to.rows]
  int C = 0;
  Rows to;
  Rows from;
};

struct ScatterRows {
  DType dtype = DType::kF32;
  void* dx = nullptr;                   // [from.rows,C]
  const void* dy = nullptr;             // [to.rows,C]
  const std::int32_t* index = nullptr;  // [to.rows]
  bool add = false;
  int C = 0;
  Rows to;
  Rows from;
};

struct Dropout {
  DType dtype = DType::kF32;
  void* y = nullptr;        // [rows,C]
  const void* x = nullptr;  // [rows,C]
  int C = 0;
  Drop drop;
  Rows rows;
};

struct CastRows {
  bf16* to = nullptr;           // [R, stride]
  const float* from = nullptr;  // [R, stride]
  std::int64_t stride = 0;
  std::int64_t elements = 0;
  int W = 0;
  const std::int32_t* slot = nullptr;  // [W]
};

void check(const GatherRows& a);
Cost cost(const GatherRows& a);
void check(const ScatterRows& a);
Cost cost(const ScatterRows& a);
void check(const Dropout& a);
Cost cost(const Dropout& a);
void check(const CastRows& a);
Cost cost(const CastRows& a);

}  // namespace shoal
