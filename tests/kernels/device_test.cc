// Devices: their names, their tables, the null device's memory, streams and graphs.
#include "kernels/device.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "kernels/base/error.h"
#include "tests/support/array.h"
#include "tests/support/op.h"
#include "tests/support/refusal.h"

namespace shoal::test {
namespace {

// What can be made on this machine; of the rest AreNamed says why.
std::vector<std::string_view> devices_here() {
  std::vector<std::string_view> names = device_names();
  std::erase_if(names, [](std::string_view name) { return !why_no_device(name).empty(); });
  return names;
}

TEST(Devices, AreNamed) {
  for (const std::string_view name : device_names()) {
    const std::string why = why_no_device(name);
    if (why.empty()) {
      EXPECT_EQ(make_device(name)->name(), name);
    } else {
      EXPECT_EQ(refusal([&] { make_device(name); }), why);
      EXPECT_EQ(why.find('\n'), std::string::npos);
      std::printf("%s\n", why.c_str());
    }
  }
  EXPECT_EQ(
      refusal([] { make_device("gpu"); }),
      fmt::format("device: unknown device \"gpu\"; allowed: auto, {}", fmt::join(device_names(), ", ")));
  EXPECT_EQ(refusal([] { make_device("cpu", {.threads = -1}); }),
            "device: threads: wanted 0 (all cores) or more, got -1");
}

// "cuda" is a device that this build may lack and this machine may lack a GPU for: both are said.
// "auto" is the CPU until the other has run on a GPU.
TEST(Devices, SayWhyThereIsNoGpu) {
  const std::string why = why_no_device("cuda");
  EXPECT_EQ(make_device("auto")->name(), "cpu");
  if (!why.empty()) {
    EXPECT_EQ(refusal([] { make_device("cuda"); }), why);
  }
}

TEST(Devices, HaveEveryOp) {
  for (const std::string_view name : devices_here()) {
    const auto device = make_device(name);
#define SHOAL_OP(function, Args) EXPECT_NE(device->ops().function, nullptr) << name << ": " << #function;
#include "kernels/ops.def"
#undef SHOAL_OP
  }
}

TEST(Devices, AlignTheirMemory) {
  for (const std::string_view name : devices_here()) {
    const auto device = make_device(name);
    for (const Memory memory : {Memory::kDevice, Memory::kPinned}) {
      void* a = device->allocate(memory, 1);
      void* b = device->allocate(memory, 1000);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 256, 0u) << name;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b) % 256, 0u) << name;
      EXPECT_NE(a, b) << name;
      device->release(memory, a);
      device->release(memory, b);
    }
  }
}

TEST(Devices, CopyAndZeroInOrder) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const Array<int> a(*device, {1, 2, 3, 4}), b(*device, {9, 9, 9, 9});
    const Stream stream = device->make_stream(), other = device->make_stream();
    device->copy(b.data(), a.data(), 3 * sizeof(int), stream);
    device->zero(b.data() + 1, sizeof(int), stream);
    const Event event = device->make_event();
    device->record(event, stream);
    device->wait(other, event);
    device->copy(a.data(), b.data(), 2 * sizeof(int), other);
    device->synchronize(other);
    EXPECT_EQ(b.values(), (std::vector<int>{1, 0, 3, 9})) << name;
    EXPECT_EQ(a.values(), (std::vector<int>{1, 0, 3, 4})) << name;
    device->release(event);
    device->release(stream);
    device->release(other);
  }
}

// A block of no bytes is a block, and is given back as one.
TEST(Devices, AllocateNothing) {
  for (const std::string_view name : devices_here()) {
    const auto device = make_device(name);
    for (const Memory memory : {Memory::kDevice, Memory::kPinned}) {
      void* const block = device->allocate(memory, 0);
      EXPECT_NE(block, nullptr) << name;
      device->release(memory, block);
    }
  }
}

// A captured graph does nothing until it is launched, then the same each time.
TEST(Devices, ReplayAGraph) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const Array<int> from(*device, {1}), to(*device, {0});
    const Stream stream = device->make_stream();
    const auto graph =
        device->capture(stream, [&] { device->copy(to.data(), from.data(), sizeof(int), stream); });
    device->synchronize(stream);
    for (int round = 0; round < 2; ++round) {
      device->zero(to.data(), sizeof(int), stream);
      graph->launch(stream);
      device->synchronize(stream);
      EXPECT_EQ(to.values(), std::vector<int>{1}) << name;
    }
    device->release(stream);
  }
}

// A branch on a second stream is part of the graph; steps come through pinned memory, as the engine sends
// them.
TEST(Devices, ReplayAGraphWithABranch) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const Array<int> fixed(*device, {0, 0}), copied(*device, {0, 0});
    const Stream stream = device->make_stream(), side = device->make_stream();
    const Event fork = device->make_event(), join = device->make_event(), uploaded = device->make_event();
    const std::size_t bytes = 2 * sizeof(int);
    auto* const in = static_cast<int*>(device->allocate(Memory::kPinned, bytes));
    auto* const out = static_cast<int*>(device->allocate(Memory::kPinned, bytes));
    const auto graph = device->capture(stream, [&] {
      device->record(fork, stream);
      device->wait(side, fork);
      device->copy(copied.data(), fixed.data(), sizeof(int), side);
      device->copy(copied.data() + 1, fixed.data() + 1, sizeof(int), stream);
      device->record(join, side);
      device->wait(stream, join);
      device->copy(out, copied.data(), bytes, stream);
    });
    for (int step = 1; step <= 3; ++step) {
      device->synchronize(uploaded);
      in[0] = step;
      in[1] = 10 * step;
      device->copy(fixed.data(), in, bytes, stream);
      device->record(uploaded, stream);
      graph->launch(stream);
      device->synchronize(stream);
      EXPECT_EQ(out[0], step) << name;
      EXPECT_EQ(out[1], 10 * step) << name;
    }
    device->release(Memory::kPinned, in);
    device->release(Memory::kPinned, out);
    for (const Event event : {fork, join, uploaded}) device->release(event);
    for (const Stream s : {stream, side}) device->release(s);
  }
}

TEST(NullDevice, GivesAscendingAddressesWithGaps) {
  const auto device = make_device("null");
  auto* a = static_cast<std::byte*>(device->allocate(Memory::kDevice, std::size_t{1} << 40));
  auto* b = static_cast<std::byte*>(device->allocate(Memory::kPinned, 1));
  EXPECT_GT(b, a + (std::size_t{1} << 40));
  device->zero(a, 100, {});  // touches nothing
  device->copy(a, b, 100, {});
  device->release(Memory::kDevice, a);
  EXPECT_EQ(refusal([&] { device->release(Memory::kDevice, a); }).substr(0, 20), "null device: release");
}

// A cost is a formula of its contract; one of each kind is counted by hand here.
TEST(Cost, CountsBytesAndFlops) {
  LinearForward linear;
  linear.dtype = DType::kBF16;
  linear.N = 32;
  linear.K = 16;
  linear.rows.W = 2;
  linear.rows.rows = 256;
  linear.w = {&linear, 512};
  EXPECT_EQ(cost(linear).bytes_read, 256 * 16 * 2 + 2 * 32 * 16 * 2);
  EXPECT_EQ(cost(linear).bytes_written, 256 * 32 * 2);
  EXPECT_EQ(cost(linear).flops, 2 * 256 * 32 * 16);
  linear.w.stride = 0;  // shared: read once
  EXPECT_EQ(cost(linear).bytes_read, 256 * 16 * 2 + 32 * 16 * 2);

  Dropout dropout;
  dropout.C = 64;
  dropout.rows.rows = 128;
  EXPECT_EQ(cost(dropout).bytes_read + cost(dropout).bytes_written, 2 * 128 * 64 * 4);

  AttentionForward attention;
  attention.H = 2;
  attention.D = 16;
  attention.rows.rows = 128;
  EXPECT_EQ(cost(attention, 2 * 64 * 64).flops, 4 * 32 * 2 * 64 * 64);

  AdamW adamw;
  adamw.W = 3;
  adamw.train_stride = 1280;
  EXPECT_EQ(cost(adamw).bytes_read, 3 * 1280 * 16);
  EXPECT_EQ(cost(adamw).bytes_written, 3 * 1280 * 12);
}

}  // namespace
}  // namespace shoal::test
