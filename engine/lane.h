// A lane: one launch's worth of slots and rows, and the two kinds of step it runs.
//
// The engine names the entries of a step; the lane lays their micro-batches end to end in a step block,
// sends it, runs the model, and where an entry closes its window the norm and the optimizer, and brings
// losses, norms and logits back. An entry's results do not depend on the others.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "engine/param_table.h"
#include "engine/slot_memory.h"
#include "engine/step_block.h"
#include "models/arena.h"
#include "models/bert.h"

namespace shoal::engine {

enum class StepKind : std::uint8_t { kTrain, kEvaluate };

// What one slot contributes to a step.
struct LaneEntry {
  std::int64_t slot = 0;
  const data::Dataset* dataset = nullptr;
  std::span<const std::int32_t> rows;  // of the data set, in order
  int n_labels = 0;
  float inv_items = 1;
  float smoothing = 0;

  // Training alone.
  std::uint64_t seed = 0;
  std::int32_t update_index = 0;
  std::int32_t micro = 0;
  double hidden_dropout = 0;
  double attention_dropout = 0;
  double classifier_dropout = 0;
  bool update = false;  // the window closes with this micro-batch
  float max_norm = 0;
  AdamWScalars scalars;
};

// Views into the lane's result block, valid until its next step.
struct LaneResult {
  float loss = 0;                   // inv_items * sum of the row losses
  float norm = 0;                   // where the entry updated
  bool nonfinite = false;           // where the entry updated
  std::span<const float> row_loss;  // [rows]
  const float* logits = nullptr;    // [rows, ld]
};

class Lane {
 public:
  // Everything outlives the lane. training: train steps too, with their memory.
  Lane(Device& device, const models::Layout& layout, const models::Head& head, DType dtype, SlotMemory& slots,
       const ParamTables& params, const LaneShape& shape, bool training, Stream stream);

  const LaneShape& shape() const { return block_.shape(); }

  // How many of `entries`, from the first on, fit into one step: at least one, or Error.
  std::size_t fitting(std::span<const LaneEntry> entries) const;

  // Runs one step over entries that fit. Result i belongs to entry i.
  std::vector<LaneResult> run(StepKind kind, std::span<const LaneEntry> entries);

 private:
  void fill(StepKind kind, std::span<const LaneEntry> entries);
  void fill_entry(StepKind kind, int w, const LaneEntry& entry);
  void enqueue(StepKind kind, bool update);
  std::size_t dry_run(bool training) const;

  Device& device_;
  const models::Layout& layout_;
  models::Bert bert_;
  DType dtype_;
  SlotMemory& slots_;
  const ParamTables& params_;
  Stream stream_;
  StepBlock block_;
  DeviceBlock arena_block_, partial_;
  std::unique_ptr<models::Arena> arena_;
};

// Token rows that one micro-batch may need at the most.
std::int64_t micro_rows(const data::Dataset& dataset, std::int64_t max_rows, std::int64_t micro_tokens);

}  // namespace shoal::engine
