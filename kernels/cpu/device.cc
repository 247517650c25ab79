#include "kernels/cpu/device.h"

#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "kernels/base/error.h"
#include "kernels/cpu/context.h"

namespace shoal::cpu {
namespace {

constexpr std::size_t kAlign = 256;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::int64_t kZeroChunk = std::int64_t{1} << 20;

class CpuGraph final : public Graph {
 public:
  explicit CpuGraph(std::function<void()> work) : work_(std::move(work)) {}
  void launch(Stream) override { work_(); }

 private:
  std::function<void()> work_;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const DeviceOptions& options)
      : cores_(omp_get_num_procs()),
        threads_(options.threads > 0 ? options.threads : cores_),
        bf16_unit_(find_bf16_unit()) {
#define SHOAL_OP(function, Args) ops_.function = &cpu::function;
#include "kernels/ops.def"
#undef SHOAL_OP
  }

  std::string_view name() const override {
    return "cpu";
  }

  std::string description() const override {
    const char* unit = bf16_unit_ == Bf16Unit::kAmx      ? " with AVX512-BF16 and AMX"
                       : bf16_unit_ == Bf16Unit::kAvx512 ? " with AVX512-BF16"
                                                         : "";
    const std::string cores = fmt::format("{} core{}{}", cores_, cores_ == 1 ? "" : "s", unit);
    if (threads_ == cores_) return cores;
    return fmt::format("{} thread{} on {}", threads_, threads_ == 1 ? "" : "s", cores);
  }

  const OpTable& ops() const override {
    return ops_;
  }
  bool supports(DType dtype) const override {
    return dtype == DType::kF32 || bf16_unit_ != Bf16Unit::kNone;
  }

  // What the system could give without swapping; where it does not say, no limit is known.
  std::size_t memory_available() const override {
    std::ifstream info("/proc/meminfo");
    std::string key, unit;
    for (std::size_t kib = 0; info >> key >> kib; std::getline(info, unit))
      if (key == "MemAvailable:") return kib * 1024;
    return Device::memory_available();
  }

  void* allocate(Memory, std::size_t bytes) override {
    const bool huge = bytes >= kHugePage;
    const std::size_t align = huge ? kHugePage : kAlign;
    const std::size_t rounded = std::max(align, (bytes + align - 1) / align * align);
    void* block = rounded >= bytes ? std::aligned_alloc(align, rounded) : nullptr;
    require(block != nullptr, "cpu: no memory for a block of {} bytes", bytes);
    if (huge) madvise(block, rounded, MADV_HUGEPAGE);  // a hint: without it pages are small
    return block;
  }
  void release(Memory, void* block) override {
    std::free(block);
  }

  Stream make_stream() override {
    return Stream{new Context(threads_, bf16_unit_)};
  }
  void release(Stream stream) override {
    delete static_cast<Context*>(stream.handle);
  }

  // Work is done when the call returns: there is nothing to wait for.
  Event make_event() override {
    return Event{this};
  }
  void release(Event) override {}
  void record(Event, Stream) override {}
  void wait(Stream, Event) override {}
  void synchronize(Event) override {}
  void synchronize(Stream) override {}

  void copy(void* to, const void* from, std::size_t bytes, Stream) override {
    if (bytes > 0) std::memmove(to, from, bytes);
  }

  void zero(void* to, std::size_t bytes, Stream stream) override {
    const auto size = static_cast<std::int64_t>(bytes);
    auto* const block = static_cast<std::byte*>(to);
#pragma omp parallel for num_threads(context(stream).threads) schedule(static) if (size > 4 * kZeroChunk)
    for (std::int64_t begin = 0; begin < size; begin += kZeroChunk) {
      std::memset(block + begin, 0, static_cast<std::size_t>(std::min(kZeroChunk, size - begin)));
    }
  }

  std::unique_ptr<Graph> capture(Stream, const std::function<void()>& work) override {
    return std::make_unique<CpuGraph>(work);
  }

 private:
  int cores_;
  int threads_;
  Bf16Unit bf16_unit_;
  OpTable ops_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(const DeviceOptions& options) {
  return std::make_unique<CpuDevice>(options);
}

}  // namespace shoal::cpu
