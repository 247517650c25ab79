// bias_dropout_residual_layernorm_forward: z = dropout(x + b) + residual, y = LayerNorm(z) gamma + beta.
// Shapes    y, z, x, residual [rows,C]; b, gamma, beta per slot [C]; stats [rows] f32
// Dtypes    y, z, x, residual, b: dtype; gamma, beta f32; all arithmetic f32, two-pass variance
// Needs     C % 16 == 0, C <= 4096; y may be x; z may be null where no backward follows
// Writes    y, z, stats: overwritten (=)
// Rounds    z once, before its statistics are taken from the rounded z; y once
// Tail      zeros in rows live .. ceil128(live) of y and z; stats beyond live are not written
// Dropout   philox.h's hidden table: element = row in the slot * C + column. A dropped element is an
//           exact 0, forward and backward, even of NaN or infinity
// Repeat    bitwise; a row depends on itself alone
// Reference kernels/reference/layernorm.h.  Ba et al., Layer Normalization, arXiv 1607.06450.
//
// bias_dropout_residual_layernorm_backward: dy -> dz (gradient of the residual) and dx = mask(dz).
//   with h = (z - mean) rstd, g = dy gamma:  dz = rstd (g - mean(g) - h mean(g h))
// Shapes    dz, dx, dy, z [rows,C]; partial [rows/128, 3, C] f32
// Writes    dz, dx: overwritten (=); dz may be dy, dx may not be dz. partial: for each 128-row block
//           that holds a live row, the column sums over its live rows, ascending, of dy h (dgamma),
//           dy (dbeta) and the rounded dx (dbias); other blocks untouched. Summed by
//           linear_backward_weight_group
// Rounds    dz once; dx once, from the unrounded dz
// Tail      zeros in rows live .. ceil128(live) of dz and dx
#pragma once

#include "kernels/base/cost.h"
#include "kernels/base/view.h"

namespace shoal {

struct BiasDropoutResidualLayerNormForward {
  DType dtype = DType::kF32;
  void* y = nullptr;               // [rows,C]
  void* z = nullptr;               // [rows,C] or null
  RowStats stats;                  // [rows] or null with z
  const void* x = nullptr;         // [rows,C]
  const void* residual = nullptr;  // [rows,C]
  Param b;                         // [C], dtype
  Param gamma;                     // [C], f32
  Param beta;                      // [C], f32
  float eps = 0;
  int C = 0;
  Drop drop;
  Rows rows;
};

struct BiasDropoutResidualLayerNormBackward {
  DType dtype = DType::kF32;
  void* dz = nullptr;        // [rows,C]
  void* dx = nullptr;        // [rows,C]
  float* partial = nullptr;  // [rows/128, 3, C]
  const void* dy = nullptr;  // [rows,C]
  const void* z = nullptr;   // [rows,C]
  RowStats stats;            // [rows]
  Param gamma;               // [C], f32
  int C = 0;
  Drop drop;
  Rows rows;
};

void check(const BiasDropoutResidualLayerNormForward& a);
Cost cost(const BiasDropoutResidualLayerNormForward& a);
void check(const BiasDropoutResidualLayerNormBackward& a);
Cost cost(const BiasDropoutResidualLayerNormBackward& a);

}  // namespace shoal
