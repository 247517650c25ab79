// A model in slots of a device, without files: what engine tests that look at logits, gradients and
// weights run on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/lane.h"
#include "models/config.h"
#include "models/head.h"

namespace shoal::engine {

class SingleLane {
 public:
  // The head is that of config.problem_type; where it names none, a classification's.
  SingleLane(const models::BertConfig& config, std::int64_t labels, DType dtype, Device& device,
             std::int64_t slots, const LaneShape& shape);
  ~SingleLane();

  Lane& lane() { return *lane_; }
  const models::Layout& layout() const { return layout_; }
  models::Extents own() const { return own_; }
  void fill(std::int64_t slot, std::span<const float> row);
  std::vector<float> weights(std::int64_t slot) const;    // [row_elements]
  std::vector<float> gradients(std::int64_t slot) const;  // [train_elements]

 private:
  Device& device_;
  Stream stream_;
  models::Extents own_;
  const models::Head& head_;
  models::Layout layout_;
  std::unique_ptr<SlotMemory> memory_;
  std::unique_ptr<ParamTables> tables_;
  std::unique_ptr<Lane> lane_;
};

// The elements of one HF tensor in a training row.
std::span<const float> hf_part(const models::Layout& layout, models::Extents own, const std::string& hf_name,
                               std::span<const float> train_row);

}  // namespace shoal::engine
