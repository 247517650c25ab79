// The rows of the resident slots on the device: parameters, and what training keeps beside them.
#pragma once

#include <cstdint>
#include <span>

#include "engine/device_block.h"
#include "kernels/device.h"
#include "models/lane_step.h"
#include "models/layout.h"

namespace shoal::engine {

class SlotMemory {
 public:
  // training: gradients and moments too. dtype kBF16: the bf16 copy too.
  SlotMemory(Device& device, const models::Layout& layout, DType dtype, std::int64_t slots, bool training,
             Stream stream);

  static std::size_t bytes_per_slot(const models::Layout& layout, DType dtype, bool training);

  const models::SlotRows& rows() const { return rows_; }
  std::int64_t slots() const { return slots_; }

  // Fills a slot from a host row [layout.row_elements()]; gradients and moments start at zero.
  void fill(std::int64_t slot, std::span<const float> row);
  // Copies a slot's parameters to the host; waits for them.
  void read(std::int64_t slot, std::span<float> row) const;

 private:
  Device& device_;
  Stream stream_;
  std::int64_t slots_;
  models::SlotRows rows_;
  DeviceBlock p_, p16_, grad_, m_, v_, touched_, slot_ids_;
};

}  // namespace shoal::engine
