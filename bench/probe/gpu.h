// The card, its memory and its streams, as objects that give back what they took. Destructors ignore errors:
// they run while a failure is on its way to the part's report.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>

#include "bench/probe/cuda_check.h"

namespace shoal::probe {

struct Card {
  std::string name;
  int sms = 0, major = 0, minor = 0;
  std::size_t l2 = 0, memory = 0, shared_per_block = 0, shared_per_sm = 0;
  bool hopper() const { return major == 9 && minor == 0; }  // what the sm_90a code runs on
};
Card card();  // of device 0

class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) { PROBE_CUDA(cudaMalloc(&data_, bytes)); }
  DeviceMemory(DeviceMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceMemory() { cudaFree(data_); }

  template <typename T>
  T* as(std::size_t byte_offset = 0) const {
    return reinterpret_cast<T*>(static_cast<char*>(data_) + byte_offset);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class Stream {
 public:
  explicit Stream(int priority = 0) {
    PROBE_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority));
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { PROBE_CUDA(cudaEventCreate(&event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

inline double seconds_between(cudaEvent_t begin, cudaEvent_t end) {
  float milliseconds = 0;
  PROBE_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
  return milliseconds * 1e-3;
}

// How many buffers of `bytes` to rotate among so that a pass meets nothing that the L2 still holds.
int rotated_sets(std::size_t bytes, std::size_t l2, int most);

}  // namespace shoal::probe
