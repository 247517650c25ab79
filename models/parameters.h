// Tensors of the layout as the views that ops take.
#pragma once

#include <string_view>

#include "models/lane_step.h"
#include "models/layout.h"

namespace shoal::models {

class Parameters {
 public:
  Parameters(const Layout& layout, const SlotRows& rows) : layout_(layout), rows_(rows) {}

  // A GEMM operand or linear bias: the bf16 copy where there is one.
  Param operand(std::string_view name) const {
    const std::int64_t offset = layout_[name].offset;
    if (rows_.p16 != nullptr) return {rows_.p16 + offset, rows_.row_stride};
    return {rows_.p + offset, rows_.row_stride};
  }
  // A LayerNorm vector or an embedding table: f32.
  Param full(std::string_view name) const { return {rows_.p + layout_[name].offset, rows_.row_stride}; }

  Grad grad(std::string_view name, const GradMode* mode) const {
    const Tensor& tensor = layout_[name];
    if (tensor.train_offset < 0) return {};
    return {rows_.grad + tensor.train_offset, rows_.train_stride, mode};
  }

  // The marks of a sparse tensor's gradient, from its start.
  std::uint8_t* touched(std::string_view name) const {
    const Tensor& tensor = layout_[name];
    if (tensor.train_offset < 0 || rows_.touched == nullptr) return nullptr;
    return rows_.touched + tensor.train_offset / kTouchRun;
  }

 private:
  const Layout& layout_;
  const SlotRows& rows_;
};

}  // namespace shoal::models
