// The tables by which gradient norm and optimizer walk the rows: trainable tensors, their chunks, and how
// much of each tensor belongs to the job in each slot.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/device_block.h"
#include "kernels/optimizer.h"
#include "models/layout.h"

namespace shoal::engine {

class ParamTables {
 public:
  ParamTables(Device& device, const models::Layout& layout, std::int64_t slots, Stream stream);

  const ParamTable& table() const { return table_; }
  void set_extents(std::int64_t slot, models::Extents own);

 private:
  Device& device_;
  const models::Layout& layout_;
  Stream stream_;
  std::vector<const models::Tensor*> trainable_;
  ParamTable table_;
  DeviceBlock spans_, chunks_, own_;
};

}  // namespace shoal::engine
