// Everything one pass over a lane reads and returns, as views of device memory. The engine fills it
// (engine/step_block.h); the model and the heads only look.
#pragma once

#include <cstdint>

#include "kernels/base/view.h"
#include "kernels/device.h"
#include "models/layout.h"

namespace shoal::models {

// The rows of R resident slots: slot s starts at s * row_stride (parameters) or s * train_stride.
struct SlotRows {
  float* p = nullptr;               // [R, row_stride]   parameters and masters
  bf16* p16 = nullptr;              // [R, row_stride]   their bf16 copy, where the precision is bf16
  float* grad = nullptr;            // [R, train_stride]
  float* m = nullptr;               // [R, train_stride]
  float* v = nullptr;               // [R, train_stride]
  std::uint8_t* touched = nullptr;  // [R, train_stride / kTouchRun], see optimizer.h
  std::int64_t row_stride = 0;
  std::int64_t train_stride = 0;
};

struct LaneStep {
  Rows tokens;  // rows of all tokens
  Rows firsts;  // rows of the [CLS] tokens alone, one a sequence

  const std::int32_t* ids = nullptr;        // [tokens.rows]
  const std::int32_t* types = nullptr;      // [tokens.rows]
  const std::int32_t* positions = nullptr;  // [tokens.rows]
  const std::int32_t* first = nullptr;      // [firsts.rows] row of each [CLS], relative to its slot's row0
  Seqs seqs;
  const std::int32_t* order = nullptr;        // [tokens.rows] see embedding_backward
  const IdChunk* chunks = nullptr;            // [tokens.rows]
  const std::int32_t* chunk_count = nullptr;  // [W]

  // Per lane entry, [W].
  const std::uint64_t* seed = nullptr;
  const std::int32_t* update_index = nullptr;
  const std::int32_t* micro = nullptr;
  const std::uint32_t* hidden_threshold = nullptr;
  const std::uint32_t* attention_threshold = nullptr;
  const std::uint32_t* classifier_threshold = nullptr;
  const GradMode* mode = nullptr;

  // Labels and loss. A head reads what its loss is made of: labels of a classification, targets of a
  // regression.
  const std::int32_t* labels = nullptr;    // [firsts.rows] class ids, -1: no label
  const float* targets = nullptr;          // [firsts.rows]
  const std::int32_t* n_labels = nullptr;  // [W]
  const float* inv_items = nullptr;        // [W]
  const float* smoothing = nullptr;        // [W]
  int ld = 0;                              // columns of logits: the group's most labels
  float* logits = nullptr;                 // [firsts.rows, ld]
  float* loss = nullptr;                   // [W]
  float* row_loss = nullptr;               // [firsts.rows]
};

// Dropout sites of the table in philox.h.
constexpr std::uint32_t embedding_site() {
  return 0;
}
constexpr std::uint32_t attention_site(std::int64_t layer) {
  return static_cast<std::uint32_t>(3 * layer + 1);
}
constexpr std::uint32_t attention_output_site(std::int64_t layer) {
  return static_cast<std::uint32_t>(3 * layer + 2);
}
constexpr std::uint32_t output_site(std::int64_t layer) {
  return static_cast<std::uint32_t>(3 * layer + 3);
}
constexpr std::uint32_t classifier_site(std::int64_t layers) {
  return static_cast<std::uint32_t>(3 * layers + 1);
}

inline Drop dropout_of(const LaneStep& step, const std::uint32_t* threshold, std::uint32_t site) {
  return {.seed = step.seed,
          .update = step.update_index,
          .micro = step.micro,
          .threshold = threshold,
          .site = site};
}

}  // namespace shoal::models
