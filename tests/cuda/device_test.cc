// What the CUDA device asks of the run-time, and what it says where that fails; without a GPU.
#include "kernels/device.h"

#include <gtest/gtest.h>

#include "kernels/base/error.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/support/refusal.h"

namespace shoal::test {
namespace {

class CudaDevice : public testing::Test {
 protected:
  CudaDevice() { fake_machine() = {}; }
  ~CudaDevice() override { fake_machine() = {}; }

  static std::vector<std::string> calls() { return std::exchange(fake_machine().calls, {}); }
};

TEST_F(CudaDevice, SaysWhatItIs) {
  const auto device = make_device("cuda");
  EXPECT_EQ(device->name(), "cuda");
  EXPECT_EQ(device->description(), "Imagined Card, compute capability 9.0, 7 SMs, 141.0 GiB");
  EXPECT_TRUE(device->supports(DType::kBF16));
  EXPECT_FALSE(device->supports(DType::kF32));
}

TEST_F(CudaDevice, SaysWhyThereIsNone) {
  FakeMachine& machine = fake_machine();
  const auto why = [&] {
    const std::string said = why_no_device("cuda");
    EXPECT_EQ(refusal([] { make_device("cuda"); }), said);
    EXPECT_EQ(make_device("auto")->name(), "cpu");
    EXPECT_EQ(machine.last_error, cudaSuccess);
    machine = {};
    return said;
  };
  machine.driver = 0;
  machine.count_error = cudaErrorInsufficientDriver;
  EXPECT_EQ(why(), "cuda: this machine has no NVIDIA driver");
  machine.driver = 12020;
  machine.count_error = cudaErrorInsufficientDriver;
  EXPECT_EQ(why(), fmt::format(
                       "cuda: the NVIDIA driver is for CUDA 12.2 at most, this build needs {}.{}: update the "
                       "driver",
                       CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10));
  machine.count_error = cudaErrorNoDevice;
  EXPECT_EQ(why(), "cuda: the NVIDIA driver finds no GPU");
  machine.cards = 0;
  EXPECT_EQ(why(), "cuda: the NVIDIA driver finds no GPU");
  machine.count_error = cudaErrorUnknown;
  EXPECT_EQ(why(), "cuda: the NVIDIA driver finds no GPU: as planted");
  machine.major = 7;
  EXPECT_EQ(why(), "cuda: the Imagined Card has compute capability 7.0; 8.0 (A100) or more is needed");
}

TEST_F(CudaDevice, SaysHowMuchMemoryIsThere) {
  const auto device = make_device("cuda");
  void* const block = device->allocate(Memory::kDevice, std::size_t{100} << 30);
  EXPECT_EQ(device->memory_available(), std::size_t{41} << 30);
  EXPECT_EQ(refusal([&] { device->allocate(Memory::kDevice, std::size_t{42} << 30); }),
            "cuda: no memory for a block of 45097156608 bytes: 44023414784 of 151397597184 bytes of the "
            "Imagined Card "
            "are free");
  EXPECT_EQ(fake_machine().last_error, cudaSuccess);
  device->release(Memory::kDevice, block);
  device->release(Memory::kDevice, nullptr);
  EXPECT_EQ(fake_machine().used, 0u);
}

TEST_F(CudaDevice, MakesStreamsThatDoNotBlockAndEventsWithoutTime) {
  const auto device = make_device("cuda");
  const Stream stream = device->make_stream();
  const Event event = device->make_event();
  device->copy(nullptr, nullptr, 1, stream);
  device->copy(nullptr, nullptr, 0, stream);
  device->zero(nullptr, 1, stream);
  device->zero(nullptr, 0, stream);
  device->release(event);
  device->release(stream);
  EXPECT_EQ(calls(), (std::vector<std::string>{"make a non-blocking stream", "make an event without time",
                                               "copy", "zero", "release an event", "release a stream"}));
}

TEST_F(CudaDevice, CapturesForThisThreadAlone) {
  const auto device = make_device("cuda");
  const Stream stream = device->make_stream();
  calls();
  auto graph = device->capture(stream, [&] { device->zero(nullptr, 1, stream); });
  graph->launch(stream);
  graph.reset();
  EXPECT_EQ(calls(), (std::vector<std::string>{"begin a capture of this thread", "zero", "end a capture",
                                               "instantiate", "destroy a graph", "upload", "launch a graph",
                                               "destroy an instance"}));
  EXPECT_EQ(refusal([&] { device->capture(stream, [] { fail("its own"); }); }), "its own");
  EXPECT_EQ(calls(),
            (std::vector<std::string>{"begin a capture of this thread", "end a capture", "destroy a graph"}))
      << "the stream is as it was";
  device->release(stream);
}

TEST_F(CudaDevice, NamesTheCallThatFailed) {
  const auto device = make_device("cuda");
  const Stream stream = device->make_stream();
  fake_machine().next_error = cudaErrorLaunchFailure;
  const std::string said = refusal([&] { device->synchronize(stream); });
  EXPECT_EQ(said.substr(0, 62),
            "cuda: cudaStreamSynchronize(native(stream)) at device.cc:" + said.substr(57, 5));
  EXPECT_EQ(said.substr(said.find(": cudaErr")), ": cudaErrorLaunchFailure: as planted");
  EXPECT_EQ(fake_machine().last_error, cudaSuccess) << "or the next call reports it again";
  fake_machine().next_error = cudaErrorLaunchFailure;
  device->release(stream);  // throws nothing
  EXPECT_EQ(fake_machine().last_error, cudaSuccess);
}

}  // namespace
}  // namespace shoal::test
