// embedding_layernorm_forward: z = word[id] + position[p] + type[t], y = dropout(LayerNorm(z) gamma + beta).
// Shapes    y, z [rows,C]; ids, positions, types [rows]; word per slot [V,C], position [P,C], type [T,C],
//           gamma, beta per slot [C]; stats [rows] f32
// Dtypes    y, z: dtype; all parameters f32; arithmetic f32, two-pass variance
// Needs     C % 16 == 0, C <= 4096; ids < the slot's own vocabulary, positions < P, types < T (the
//           loader has made sure); z and stats may be null where no backward follows
// Rounds    z once, before its statistics; y once, after dropout
// Tail      zeros in rows live .. ceil128(live) of y and z
// Dropout   philox.h's hidden table, as bias_dropout_residual_layernorm
//
// embedding_layernorm_backward: dy -> dz, through dropout and LayerNorm.
// Shapes    dz, dy, z [rows,C]; partial [rows/128, 3, C] f32: planes dgamma, dbeta (of the masked dy);
//           the third plane is set to zero
// Writes    dz: overwritten (=), tail zeros; dz may be dy. Rounds dz once
//
// embedding_backward: dz -> gradients of the three tables, without atomics.
// Shapes    dz [rows,C]; order [rows], chunks [rows] at row0[w] of each entry; chunk_count [W];
//           dword per slot [V,C], dposition [P,C], dtype_table [T,C], f32. order: rows relative to
//           row0[w], sorted by id and then ascending; a chunk names a range of its entry's order, chunks
//           of one id follow each other. The position of a row is its place in its sequence
// Order     word: per id, chunks of at most kIdChunk positions ascending, then the chunk sums ascending.
//           position: sequences ascending. type: 128-row blocks, ascending
// Writes    dword: += on the rows of ids that occur, nothing else (the table is all zero at the start of
//           a window: the optimizer restores that); skip leaves it. touched: 1 for every run of kTouchRun
//           elements that holds such a row; other marks are left. dposition, dtype_table: by mode, set
//           writes all P and T rows
#pragma once

#include "kernels/base/cost.h"
#include "kernels/base/view.h"

namespace shoal {

struct EmbeddingLayerNormForward {
  DType dtype = DType::kF32;
  void* y = nullptr;                        // [rows,C]
  void* z = nullptr;                        // [rows,C] or null
  RowStats stats;                           // [rows] or null with z
  const std::int32_t* ids = nullptr;        // [rows]
  const std::int32_t* positions = nullptr;  // [rows]
  const std::int32_t* types = nullptr;      // [rows]
  Param word;                               // [V,C], f32
  Param position;                           // [P,C], f32
  Param type;                               // [T,C], f32
  Param gamma;                              // [C], f32
  Param beta;                               // [C], f32
  float eps = 0;
  int C = 0;
  Drop drop;
  Rows rows;
};

struct EmbeddingLayerNormBackward {
  DType dtype = DType::kF32;
  void* dz = nullptr;        // [rows,C]
  float* partial = nullptr;  // [rows/128, 3, C]
  const void* dy = nullptr;  // [rows,C]
  const void* z = nullptr;   // [rows,C]
  RowStats stats;            // [rows]
  Param gamma;               // [C], f32
  int C = 0;
  Drop drop;
  Rows rows;
};

struct EmbeddingBackward {
  DType dtype = DType::kF32;
  Grad dword;                                 // [V,C]
  std::uint8_t* touched = nullptr;            // [R, dword.stride / kTouchRun] from dword on, or null
  Grad dposition;                             // [P,C]
  Grad dtype_table;                           // [T,C]
  const void* dz = nullptr;                   // [rows,C]
  const std::int32_t* order = nullptr;        // [rows]
  const IdChunk* chunks = nullptr;            // [rows]
  const std::int32_t* chunk_count = nullptr;  // [W]
  const std::int32_t* types = nullptr;        // [rows]
  int P = 0;
  int T = 0;
  int C = 0;
  Seqs seqs;
  Rows rows;
};

void check(const EmbeddingLayerNormForward& a);
Cost cost(const EmbeddingLayerNormForward& a);
void check(const EmbeddingLayerNormBackward& a);
Cost cost(const EmbeddingLayerNormBackward& a);
void check(const EmbeddingBackward& a);
Cost cost(const EmbeddingBackward& a);

}  // namespace shoal
