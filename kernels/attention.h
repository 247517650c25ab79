// attention_forward: o = dropout(softmax(q k^T / sqrt(D))) v, per sequence and head, bidirectional.
// Shapes    o [rows,C]; lse [rows,H] f32; qkv [rows,3C] (q | k | v, each H heads of D); C = H D
// Dtypes    qkv, o: dtype; scores, softmax, sums f32
// Needs     D in {16, 32, 64, 128}; sequences <= 65,535 long and < 65,536 per entry, H <= 256
// Writes    o, lse: overwritten (=). lse = log sum exp of the scaled scores, kept for the backward
// Rounds    e = exp(s - max) once, after dropout's mask, as the operand of the product with v; the row
//           sum is of unrounded e; o once, after the division and dropout's scale
// Tail      zeros in rows live .. ceil128(live) of o; lse beyond live is not written
// Empty     a sequence of length 0 owns no row; an idle entry (count 0) writes its zeros only
// Repeat    bitwise; the form of a sequence follows its own length
// Dropout   philox.h's attention table: sequence = index in the entry, i query, j key
// Reference kernels/reference/attention.h
//
// attention_backward: dqkv from do; scores and mask recomputed from qkv and lse.
//           p = exp(s - lse), m = dropout's 0 or scale, delta = sum(do o) per row,
//           dv = (m p)^T do, dp = do v^T, ds = p (m dp - delta), dq = ds k / sqrt(D), dk = ds^T q / sqrt(D)
// Shapes    dqkv, qkv [rows,3C]; dout, o [rows,C]; lse [rows,H]
// Rounds    m p and ds once, as operands; dqkv once
// Writes    dqkv: overwritten (=), tail zeros
// Dao et al., FlashAttention, arXiv 2205.14135, for the recomputation.
#pragma once

#include "kernels/base/cost.h"
#include "kernels/base/view.h"

namespace shoal {

struct AttentionForward {
  DType dtype = DType::kF32;
  void* o = nullptr;          // [rows,C]
  float* lse = nullptr;       // [rows,H]
  const void* qkv = nullptr;  // [rows,3C]
  int H = 0;
  int D = 0;
  Seqs seqs;
  Drop drop;
  Rows rows;
};

struct AttentionBackward {
  DType dtype = DType::kF32;
  void* dqkv = nullptr;        // [rows,3C]
  const void* dout = nullptr;  // [rows,C]
  const void* qkv = nullptr;   // [rows,3C]
  const void* o = nullptr;     // [rows,C]
  const float* lse = nullptr;  // [rows,H]
  int H = 0;
  int D = 0;
  Seqs seqs;
  Drop drop;
  Rows rows;
};

void check(const AttentionForward& a);
Cost cost(const AttentionForward& a, std::int64_t sum_of_squared_lengths);
void check(const AttentionBackward& a);
Cost cost(const AttentionBackward& a, std::int64_t sum_of_squared_lengths);

}  // namespace shoal
