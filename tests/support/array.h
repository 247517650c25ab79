// A few numbers in device memory, for tests that need no lane.
#pragma once

#include <vector>

#include "kernels/device.h"

namespace shoal::test {

template <typename T>
class Array {
 public:
  Array(Device& device, const std::vector<T>& values) : device_(device), size_(values.size()) {
    stream_ = device_.make_stream();
    data_ = static_cast<T*>(device_.allocate(Memory::kDevice, size_ * sizeof(T)));
    device_.copy(data_, values.data(), size_ * sizeof(T), stream_);
    device_.synchronize(stream_);
  }
  ~Array() {
    device_.release(Memory::kDevice, data_);
    device_.release(stream_);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* data() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> v(size_);
    device_.copy(v.data(), data_, size_ * sizeof(T), stream_);
    device_.synchronize(stream_);
    return v;
  }

 private:
  Device& device_;
  std::size_t size_;
  Stream stream_;
  T* data_ = nullptr;
};

}  // namespace shoal::test
