// A block of a device's memory that gives itself back.
#pragma once

#include <cstddef>
#include <utility>

#include "kernels/device.h"

namespace shoal::engine {

class DeviceBlock {
 public:
  DeviceBlock() = default;
  DeviceBlock(Device& device, Memory memory, std::size_t bytes)
      : device_(&device), memory_(memory), data_(device.allocate(memory, bytes)) {}
  DeviceBlock(DeviceBlock&& other) noexcept { swap(other); }
  DeviceBlock& operator=(DeviceBlock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBlock() {
    if (data_ != nullptr) device_->release(memory_, data_);
  }

  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void swap(DeviceBlock& other) {
    std::swap(device_, other.device_);
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
  }

  Device* device_ = nullptr;
  Memory memory_ = Memory::kDevice;
  void* data_ = nullptr;
};

}  // namespace shoal::engine
