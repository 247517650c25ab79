// The HF tensors of one job: a layout's parts with the place and shape that the job's extents give them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/layout.h"

namespace shoal::models {

struct Part {
  const TensorSpec* spec = nullptr;  // lives in the layout
  Extent extent = Extent::kFixed;    // the tensor's: what sets shape[0]
  std::int64_t offset = 0;           // elements, in the weight row
  std::vector<std::int64_t> shape;   // as the file has it
  std::int64_t elements = 0;
};

// In row order. Error where the job's extents are not within the layout's.
std::vector<Part> parts_of(const Layout& layout, Extents own);

// "[3,128]"
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace shoal::models
