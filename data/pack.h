// Cuts the rows of a window into micro-batches and lays a micro-batch end to end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "kernels/base/view.h"

namespace shoal::data {

// Splits `rows` (in order) into micro-batches: each takes rows greedily while it holds at most
// max_rows rows and at most micro_tokens tokens. A row longer than micro_tokens is an Error (the
// planner has made micro_tokens >= max_seq_length). Depends on the job's own data and settings alone.
// Returns the end index (exclusive) of each micro-batch in `rows`.
std::vector<std::size_t> cut_window(const Dataset& dataset, std::span<const std::int32_t> rows,
                                    std::int64_t max_rows, std::int64_t micro_tokens);

// Rows of micro-batch i of those that cut_window returned the ends of.
inline std::span<const std::int32_t> micro_batch(std::span<const std::int32_t> rows,
                                                 std::span<const std::size_t> ends, std::size_t i) {
  const std::size_t begin = i == 0 ? 0 : ends[i - 1];
  return rows.subspan(begin, ends[i] - begin);
}

// Destination of one lane entry's micro-batch, slices of the step block owned by the caller.
// Room for capacity tokens / sequences; everything up to the stated padding is overwritten.
struct PackedSlot {
  std::span<std::int32_t> ids;        // [>= ceil128(tokens)], 0 beyond the live rows
  std::span<std::int32_t> types;      // the same
  std::span<std::int32_t> positions;  // the same: index of the token in its own sequence
  std::span<std::int32_t> cu;         // [B + 1], cu[b >= count] = tokens
  std::span<std::int32_t> labels;     // [>= ceil128(count)], -1 beyond count
  std::span<float> targets;           // the same, 0 beyond; 0 throughout unless the data are a regression's
  std::span<std::int32_t> first;      // [>= ceil128(count)], row (in the slot) of each [CLS]; 0 beyond
};

struct PackedCounts {
  std::int32_t tokens = 0;
  std::int32_t sequences = 0;
};

// Lays `rows` of the data set end to end. Error if they do not fit the destination.
PackedCounts pack(const Dataset& dataset, std::span<const std::int32_t> rows, const PackedSlot& to);

// Appends the work items of lane entry w to the four lists by length (seq_list_of), skipping empty
// sequences. lists[i] has room for the lane's W * B items; count[i] is its current fill.
void append_seq_items(int w, std::span<const std::int32_t> cu, std::int32_t sequences,
                      std::span<SeqItem> lists[Seqs::kLists], std::int32_t count[Seqs::kLists]);

// Positions of one lane entry sorted by token id, cut into chunks of at most kIdChunk positions of
// one id (IdChunk), for embedding_backward (kernels/embedding_backward.h).
// order: [tokens], token rows of the slot ascending by (id, row). Returns the number of chunks
// written (<= tokens); chunks of one id are adjacent and ascending.
std::int32_t sort_by_id(std::span<const std::int32_t> ids, std::int32_t tokens, std::span<std::int32_t> order,
                        std::span<IdChunk> chunks);

}  // namespace shoal::data
