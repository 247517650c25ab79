// A device: a table of ops, and memory, streams, events and graphs to run them with. The engine
// knows devices only through this header; it is the same with and without CUDA.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/table.h"

namespace shoal {

enum class Memory : std::uint8_t {
  kDevice,  // what ops read and write
  kPinned,  // host memory that copies run to and from beside the ops
};

// A point in a stream's work.
struct Event {
  void* handle = nullptr;
};

// Recorded work, launched again and again with the same addresses.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual void launch(Stream stream) = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view name() const = 0;    // "cpu", "cuda", "null", "simt"
  virtual std::string description() const = 0;  // one line for people: "2 cores with AVX512-BF16"
  virtual const OpTable& ops() const = 0;
  virtual bool supports(DType dtype) const = 0;  // fast enough to be offered, see DESIGN section 7

  // 256-byte aligned. Error naming bytes and device if there is not enough.
  virtual void* allocate(Memory memory, std::size_t bytes) = 0;
  virtual void release(Memory memory, void* block) = 0;

  // Bytes of device memory that could be allocated now, as far as the device can tell.
  virtual std::size_t memory_available() const { return std::numeric_limits<std::size_t>::max(); }

  virtual Stream make_stream() = 0;
  virtual void release(Stream stream) = 0;
  virtual Event make_event() = 0;
  virtual void release(Event event) = 0;
  virtual void record(Event event, Stream stream) = 0;
  virtual void wait(Stream stream, Event event) = 0;  // stream waits, not the host
  virtual void synchronize(Event event) = 0;          // the host waits
  virtual void synchronize(Stream stream) = 0;

  // Any direction; ordered in the stream. Overlap with other streams only from and to pinned memory. Host
  // memory stays as it is, and is not looked at, until the copy is known to be done.
  virtual void copy(void* to, const void* from, std::size_t bytes, Stream stream) = 0;
  virtual void zero(void* to, std::size_t bytes, Stream stream) = 0;

  // Records what `work` enqueues on `stream`, and on streams that wait for its events and that it waits for
  // in turn; work must enqueue the same on every call. Inside: no allocation, no synchronize, no host memory
  // that is not pinned, no kernel that has not run before.
  virtual std::unique_ptr<Graph> capture(Stream stream, const std::function<void()>& work) = 0;
};

struct DeviceOptions {
  int threads = 0;         // cpu: 0 = all cores of this process
  std::uint64_t seed = 0;  // simt: of the order of threads, blocks and streams; 0 = as they stand
};

// A name of device_names(), or "auto": "cpu", while "cuda" has never run on a GPU. Error where
// why_no_device() says something.
std::unique_ptr<Device> make_device(std::string_view name, const DeviceOptions& options = {});
// Why this build has no such device, or this machine, in one line; empty: it can be made.
std::string why_no_device(std::string_view name);
// Of the devices in this build.
std::vector<std::string_view> device_names();

}  // namespace shoal
