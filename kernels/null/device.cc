#include "kernels/null/device.h"

#include <map>

#include "kernels/base/error.h"
#include "kernels/base/view.h"

namespace shoal::null {
namespace {

constexpr OpTable make_table() {
  OpTable table;
#define SHOAL_OP(function, Args) table.function = [](const Args& a, Stream) { check(a); };
#include "kernels/ops.def"
#undef SHOAL_OP
  return table;
}

class NullGraph final : public Graph {
 public:
  void launch(Stream) override {}
};

class NullDevice final : public Device {
 public:
  std::string_view name() const override { return "null"; }
  std::string description() const override { return "no arithmetic, no memory: sizes and order only"; }
  const OpTable& ops() const override {
    static constexpr OpTable table = make_table();
    return table;
  }
  bool supports(DType) const override { return true; }

  void* allocate(Memory, std::size_t bytes) override {
    void* const block = reinterpret_cast<void*>(next_);
    // A gap after each block, so that one block's end is no other's start.
    next_ += static_cast<std::uintptr_t>(round_up(static_cast<std::int64_t>(bytes), 256)) + 256;
    blocks_[block] = bytes;
    return block;
  }
  void release(Memory, void* block) override {
    require(block == nullptr || blocks_.erase(block) == 1, "null device: release: {} is not allocated",
            block);
  }

  Stream make_stream() override { return Stream{handle()}; }
  void release(Stream) override {}
  Event make_event() override { return Event{handle()}; }
  void release(Event) override {}
  void record(Event, Stream) override {}
  void wait(Stream, Event) override {}
  void synchronize(Event) override {}
  void synchronize(Stream) override {}
  void copy(void*, const void*, std::size_t, Stream) override {}
  void zero(void*, std::size_t, Stream) override {}

  std::unique_ptr<Graph> capture(Stream, const std::function<void()>& work) override {
    work();
    return std::make_unique<NullGraph>();
  }

 private:
  void* handle() { return this; }

  std::uintptr_t next_ = std::uintptr_t{1} << 40;  // far above what the process really maps low
  std::map<void*, std::size_t> blocks_;
};

}  // namespace

std::unique_ptr<Device> make_null_device(const DeviceOptions&) {
  return std::make_unique<NullDevice>();
}

}  // namespace shoal::null
