#include "engine/slot_memory.h"

#include <numeric>
#include <vector>

#include "kernels/base/error.h"

namespace shoal::engine {

SlotMemory::SlotMemory(Device& device, const models::Layout& layout, DType dtype, std::int64_t slots,
                       bool training, Stream stream)
    : device_(device), stream_(stream), slots_(slots) {
  rows_.row_stride = layout.row_elements();
  rows_.train_stride = layout.train_elements();
  const auto block = [&](std::int64_t elements, std::size_t size) {
    return DeviceBlock(device, Memory::kDevice, static_cast<std::size_t>(slots * elements) * size);
  };
  p_ = block(rows_.row_stride, sizeof(float));
  rows_.p = p_.as<float>();
  if (dtype == DType::kBF16) {
    p16_ = block(rows_.row_stride, sizeof(bf16));
    rows_.p16 = p16_.as<bf16>();
  }
  if (training) {
    grad_ = block(rows_.train_stride, sizeof(float));
    m_ = block(rows_.train_stride, sizeof(float));
    v_ = block(rows_.train_stride, sizeof(float));
    rows_.grad = grad_.as<float>();
    rows_.m = m_.as<float>();
    rows_.v = v_.as<float>();
    touched_ = block(rows_.train_stride / kTouchRun, sizeof(std::uint8_t));
    rows_.touched = touched_.as<std::uint8_t>();
  }
  std::vector<std::int32_t> ids(static_cast<std::size_t>(slots));
  std::iota(ids.begin(), ids.end(), 0);
  slot_ids_ = DeviceBlock(device, Memory::kDevice, ids.size() * sizeof(std::int32_t));
  device.copy(slot_ids_.data(), ids.data(), ids.size() * sizeof(std::int32_t), stream);
  device.synchronize(stream);
}

std::size_t SlotMemory::bytes_per_slot(const models::Layout& layout, DType dtype, bool training) {
  const auto row = static_cast<std::size_t>(layout.row_elements());
  const auto train = static_cast<std::size_t>(layout.train_elements());
  return row * (sizeof(float) + (dtype == DType::kBF16 ? sizeof(bf16) : 0)) +
         (training ? 3 * train * sizeof(float) + train / kTouchRun : 0);
}

void SlotMemory::fill(std::int64_t slot, std::span<const float> row) {
  SHOAL_CHECK(slot >= 0 && slot < slots_);
  SHOAL_CHECK(static_cast<std::int64_t>(row.size()) == rows_.row_stride);
  device_.copy(rows_.p + slot * rows_.row_stride, row.data(), row.size_bytes(), stream_);
  if (rows_.p16 != nullptr) {
    device_.ops().cast_rows({.to = rows_.p16,
                             .from = rows_.p,
                             .stride = rows_.row_stride,
                             .elements = rows_.row_stride,
                             .W = 1,
                             .slot = slot_ids_.as<std::int32_t>() + slot},
                            stream_);
  }
  if (rows_.grad != nullptr) {
    const std::size_t bytes = static_cast<std::size_t>(rows_.train_stride) * sizeof(float);
    for (float* part : {rows_.grad, rows_.m, rows_.v})
      device_.zero(part + slot * rows_.train_stride, bytes, stream_);
    const std::int64_t marks = rows_.train_stride / kTouchRun;
    device_.zero(rows_.touched + slot * marks, static_cast<std::size_t>(marks), stream_);
  }
  device_.synchronize(stream_);
}

void SlotMemory::read(std::int64_t slot, std::span<float> row) const {
  SHOAL_CHECK(static_cast<std::int64_t>(row.size()) == rows_.row_stride);
  device_.copy(row.data(), rows_.p + slot * rows_.row_stride, row.size_bytes(), stream_);
  device_.synchronize(stream_);
}

}  // namespace shoal::engine
