// The contiguous block that carries everything one step needs to the device in one copy: ids, types,
// positions, sequence bounds, work lists, labels, sorted positions, hyperparameters, flags; and the block
// of results that comes back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/device_block.h"
#include "kernels/device.h"
#include "kernels/optimizer.h"
#include "models/lane_step.h"

namespace shoal::engine {

// Capacity of a lane.
struct LaneShape {
  int W = 0;                    // entries
  std::int64_t rows = 0;        // token rows, multiple of 128
  std::int64_t first_rows = 0;  // [CLS] rows, multiple of 128
  int B = 0;                    // sequences of one entry
  int ld = 0;                   // columns of logits
};

// Pointers into a step block, host or device; shapes as in models/lane_step.h.
struct StepArrays {
  // [W] ([W+1] for the row0s)
  std::int32_t *slot, *row0, *live, *first_row0, *first_live, *count, *chunk_count;
  std::int32_t *update_index, *micro, *update, *n_labels;
  std::uint64_t* seed;
  std::uint32_t *hidden_threshold, *attention_threshold, *classifier_threshold;
  GradMode* mode;
  float *inv_items, *smoothing, *max_norm;
  AdamWScalars* scalars;
  // [rows]
  std::int32_t *ids, *types, *positions, *order;
  IdChunk* chunks;
  // [first_rows]
  std::int32_t *first, *labels;
  float* targets;
  std::int32_t* cu;              // [W, B+1]
  SeqItem* items[Seqs::kLists];  // [W * B] each
  std::int32_t* item_count;      // [kLists]
};

struct ResultArrays {
  float *loss, *norm, *coef;  // [W]
  std::int32_t* nonfinite;    // [W]
  float* row_loss;            // [first_rows]
  float* logits;              // [first_rows, ld]
};

class StepBlock {
 public:
  StepBlock(Device& device, const LaneShape& shape);

  const LaneShape& shape() const { return shape_; }
  const StepArrays& host() const { return host_; }
  const StepArrays& on_device() const { return device_arrays_; }
  const ResultArrays& results() const { return host_results_; }  // after download and synchronize
  const ResultArrays& results_on_device() const { return device_results_; }

  models::LaneStep lane() const;  // the device views
  void upload(Device& device, Stream stream) const;
  void download(Device& device, Stream stream) const;

 private:
  LaneShape shape_;
  std::size_t step_bytes_ = 0;
  std::size_t result_bytes_ = 0;
  DeviceBlock host_block_, device_block_, host_result_block_, device_result_block_;
  StepArrays host_{}, device_arrays_{};
  ResultArrays host_results_{}, device_results_{};
};

}  // namespace shoal::engine
