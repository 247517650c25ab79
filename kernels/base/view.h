// The views that every op's arguments are made of. Plain pointers with their shapes beside them.
// Letters: R slots, W slots in a lane, B sequences, S length, C hidden, H heads, D head size,
// F feed-forward, V vocabulary, L layers (docs/glossary.md).
//
// A lane is one launch's worth of rows. Slot entry w of the lane (0 <= w < W) is resident slot
// slot[w], and owns activation rows row0[w] .. row0[w] + live[w]; row0[w] is a multiple of 128 and
// row0[w+1] - row0[w] >= ceil128(live[w]).
// Activations, parameters and gradients start at multiples of 64 bytes.
// The tail rule: an op that writes an activation writes exact zeros to rows live .. ceil128(live)
// of each slot and neither reads nor writes beyond; an op that reduces over rows may read up to
// ceil16(live), so a finite zero is what it finds there.
#pragma once

#include <cstdint>

#include "kernels/base/dtype.h"

namespace shoal {

constexpr std::int64_t round_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}
constexpr std::int64_t ceil16(std::int64_t n) {
  return round_up(n, 16);
}
constexpr std::int64_t ceil128(std::int64_t n) {
  return round_up(n, 128);
}

constexpr int kRowAlign = 128;     // rows: row0 is a multiple of this
constexpr int kTensorAlign = 128;  // elements: tensor offsets and row strides are multiples of this
constexpr int kRowChunk = 128;     // rows of one slot in one partial sum of a two-stage reduction
constexpr int kTouchRun = 128;     // elements of a sparse tensor that share a mark, see optimizer.h
constexpr int kIdChunk = 64;       // positions of one id in one partial sum of embedding_backward

// Which rows of a lane belong to whom. slot, row0, live are device memory; W and rows are not.
struct Rows {
  int W = 0;                           // slot entries in the lane
  std::int64_t rows = 0;               // rows of the lane's activations: capacity, multiple of 128
  const std::int32_t* slot = nullptr;  // [W]   resident slot of each entry
  const std::int32_t* row0 = nullptr;  // [W+1] first row, multiples of 128
  const std::int32_t* live = nullptr;  // [W]   live rows; 0 = idle entry
};

// A parameter of every slot: element i of slot s is base[s * stride + i]. stride 0 = shared.
// f32 for LayerNorm vectors and embeddings; the args' dtype for GEMM operands and linear biases.
struct Param {
  const void* base = nullptr;
  std::int64_t stride = 0;  // elements
};

// What an op does to a gradient in memory, per lane entry.
enum class GradMode : std::int32_t {
  kSkip = 0,  // leave untouched
  kSet = 1,   // overwrite (first micro-batch of a window)
  kAdd = 2,   // accumulate
};

// A gradient of every slot, f32: element i of slot s is base[s * stride + i].
struct Grad {
  float* base = nullptr;  // nullptr: the tensor is frozen, no gradient is formed
  std::int64_t stride = 0;
  const GradMode* mode = nullptr;  // [W]
};

// Dropout of one site: see philox.h for the table. seed == nullptr: no dropout at all.
// threshold[w] == 65536 keeps every element, with scale exactly 1.
struct Drop {
  const std::uint64_t* seed = nullptr;       // [W]
  const std::int32_t* update = nullptr;      // [W]
  const std::int32_t* micro = nullptr;       // [W] index of the micro-batch in its window
  const std::uint32_t* threshold = nullptr;  // [W]
  std::uint32_t site = 0;
};

// One sequence of the lane, an entry of a work list.
struct SeqItem {
  std::int32_t w = 0;
  std::int32_t seq = 0;
};

// The sequences of each slot. Rows of sequence b of entry w, relative to row0[w]:
// cu[w * (B + 1) + b] .. cu[w * (B + 1) + b + 1]. A sequence may be empty (length 0).
struct Seqs {
  int B = 0;                            // capacity: sequences of one entry
  const std::int32_t* cu = nullptr;     // [W, B+1]
  const std::int32_t* count = nullptr;  // [W]
  // Work lists by length: <= 32, <= 64, <= 128, > 128; each of capacity W * B. Every non-empty
  // sequence stands in exactly one list.
  static constexpr int kLists = 4;
  const SeqItem* items[kLists] = {};
  const std::int32_t* item_count = nullptr;  // [kLists]
};

constexpr int seq_list_of(std::int64_t length) {
  return length <= 32 ? 0 : length <= 64 ? 1 : length <= 128 ? 2 : 3;
}

// Positions of one token id in one entry's micro-batch, at most kIdChunk of them.
struct IdChunk {
  std::int32_t id = 0;     // row of the embedding table
  std::int32_t begin = 0;  // range in the entry's order[]
  std::int32_t end = 0;
};

// Statistics of a LayerNorm, kept for its backward: f32, one per row.
struct RowStats {
  float* mean = nullptr;  // [rows]
  float* rstd = nullptr;  // [rows]
};

}  // namespace shoal
