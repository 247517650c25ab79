#include "models/parts.h"

#include <fmt/ranges.h>

#include "kernels/base/error.h"

namespace shoal::models {

std::vector<Part> parts_of(const Layout& layout, Extents own) {
  std::vector<Part> parts;
  for (const Tensor& tensor : layout.tensors()) {
    const std::int64_t rows = Layout::own_rows(tensor, own);
    require(rows >= 1 && rows <= tensor.rows, "{}: a job with {} rows does not fit a layout for 1 to {}",
            tensor.name, rows, tensor.rows);
    SHOAL_CHECK(tensor.extent == Extent::kFixed || tensor.parts.size() == 1);
    std::int64_t offset = tensor.offset;
    for (const TensorSpec& spec : tensor.parts) {
      Part part{.spec = &spec,
                .extent = tensor.extent,
                .offset = offset,
                .shape = {tensor.extent == Extent::kFixed ? spec.rows : rows}};
      if (spec.cols != 0) part.shape.push_back(spec.cols);
      part.elements = part.shape.front() * tensor.cols;
      offset += part.elements;
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

}  // namespace shoal::models
