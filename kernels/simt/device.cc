#include "kernels/simt/device.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "kernels/base/error.h"
#include "kernels/simt/memory.h"
#include "kernels/simt/stream_set.h"

namespace shoal::simt {

#define SHOAL_OP(function, Args) void function(const Args& args, Stream stream);
#include "kernels/ops.def"
#undef SHOAL_OP

namespace {

constexpr std::size_t kAlign = 256;

// Host memory of the device's own; never given out by another name than allocate's.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory() {
    for (const auto& [block, bytes] : blocks_) std::free(block);
  }

  void* allocate(std::size_t bytes) {
    const std::size_t rounded = std::max(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
    auto* const block =
        static_cast<std::byte*>(rounded >= bytes ? std::aligned_alloc(kAlign, rounded) : nullptr);
    require(block != nullptr, "simt: no memory for a pinned block of {} bytes", bytes);
    std::memset(block, 0xff, rounded);  // what nobody wrote is NaN
    const std::lock_guard lock(mutex_);
    blocks_[block] = bytes;
    return block;
  }

  void release(void* block) {
    const std::lock_guard lock(mutex_);
    require(blocks_.erase(static_cast<std::byte*>(block)) == 1, "simt: release: {} is no pinned block",
            block);
    std::free(block);
  }

  // Whether it starts in a pinned block; an Error if it does not end there too.
  bool holds(const char* what, const void* p, std::size_t bytes) const {
    const std::lock_guard lock(mutex_);
    auto* const begin = static_cast<std::byte*>(const_cast<void*>(p));
    auto after = blocks_.upper_bound(begin);
    if (after == blocks_.begin()) return false;
    const auto& [block, size] = *--after;
    const auto offset = static_cast<std::size_t>(begin - block);
    if (offset >= size) return false;
    require(bytes <= size - offset, "simt: {}: {} bytes from byte {} on, of a pinned block of {}", what,
            bytes, offset, size);
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::byte*, std::size_t> blocks_;
};

HostRange range(const void* p, std::size_t bytes) {
  return {static_cast<std::byte*>(const_cast<void*>(p)), bytes};
}

class SimtDevice final : public Device {
 public:
  explicit SimtDevice(const DeviceOptions& options) : streams_(settings) {
    settings.seed = options.seed;
#define SHOAL_OP(function, Args) ops_.function = &simt::function;
#include "kernels/ops.def"
#undef SHOAL_OP
  }

  std::string_view name() const override {
    return "simt";
  }
  std::string description() const override {
    return "the CUDA kernels on the CPU, one fiber per thread: to prove them, not to train";
  }
  const OpTable& ops() const override {
    return ops_;
  }
  bool supports(DType dtype) const override {
    return dtype == DType::kBF16;
  }

  void* allocate(Memory memory, std::size_t bytes) override {
    streams_.refuse_in_capture("an allocation");
    return memory == Memory::kDevice ? allocate_memory(bytes) : pinned_.allocate(bytes);
  }
  // Work that is queued may still use the block: it runs first, as before cudaFree.
  void release(Memory memory, void* block) override {
    if (block == nullptr) return;
    streams_.spoil_capture("a release of memory");
    streams_.drain();
    if (memory == Memory::kDevice) {
      release_memory(block);
    } else {
      pinned_.release(block);
    }
  }

  Stream make_stream() override {
    return streams_.make_stream();
  }
  void release(Stream stream) override {
    streams_.release(stream);
  }
  Event make_event() override {
    return streams_.make_event();
  }
  void release(Event event) override {
    streams_.release(event);
  }
  void record(Event event, Stream stream) override {
    streams_.record(event, stream);
  }
  void wait(Stream stream, Event event) override {
    streams_.wait(stream, event);
  }
  void synchronize(Event event) override {
    streams_.synchronize(event);
  }
  void synchronize(Stream stream) override {
    streams_.synchronize(stream);
  }

  void copy(void* to, const void* from, std::size_t bytes, Stream stream) override {
    if (bytes == 0) return;
    const bool to_pinned = is_pinned("copy: to", to, bytes),
               from_pinned = is_pinned("copy: from", from, bytes);
    if ((!to_pinned && !in_arena(to)) || (!from_pinned && !in_arena(from))) {
      streams_.refuse_in_capture("a copy from or to host memory that is not pinned");
    }
    Work work;
    if (from_pinned) work.reads.push_back(range(from, bytes));
    if (to_pinned) work.writes.push_back(range(to, bytes));
    work.run = [to, from, bytes] {
      check_device_memory("copy: to", to, bytes);  // once more: of a graph it may be gone
      check_device_memory("copy: from", from, bytes);
      std::memmove(to, from, bytes);
    };
    streams_.enqueue(stream, std::move(work));
  }

  void zero(void* to, std::size_t bytes, Stream stream) override {
    if (bytes == 0) return;
    const bool pinned = is_pinned("zero", to, bytes);
    require(pinned || in_arena(to), "simt: zero: {} is neither device nor pinned memory", to);
    Work work;
    work.run = [to, bytes] {
      check_device_memory("zero", to, bytes);
      std::memset(to, 0, bytes);
    };
    if (pinned) work.writes.push_back(range(to, bytes));
    streams_.enqueue(stream, std::move(work));
  }

  std::unique_ptr<Graph> capture(Stream stream, const std::function<void()>& work) override {
    return streams_.capture(stream, work);
  }

  Settings settings;

 private:
  static void check_device_memory(const char* what, const void* p, std::size_t bytes) {
    require(!in_arena(p) || in_one_block(p, bytes),
            "simt: {}: {} bytes at {} are not of one block of device memory", what, bytes, p);
  }
  bool is_pinned(const char* what, const void* p, std::size_t bytes) const {
    check_device_memory(what, p, bytes);
    return pinned_.holds(what, p, bytes);
  }

  OpTable ops_;
  PinnedMemory pinned_;
  StreamSet streams_;
};

}  // namespace

std::unique_ptr<Device> make_simt_device(const DeviceOptions& options) {
  return std::make_unique<SimtDevice>(options);
}

Settings& settings_of(Device& device) {
  return dynamic_cast<SimtDevice&>(device).settings;
}

}  // namespace shoal::simt
