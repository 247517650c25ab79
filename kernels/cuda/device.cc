#include "kernels/cuda/device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>

#include "kernels/base/error.h"
#include "kernels/cuda/check.h"

namespace shoal::cuda {

#define SHOAL_OP(function, Args) void function(const Args& args, Stream stream);
#include "kernels/ops.def"
#undef SHOAL_OP

namespace {

constexpr int kGpu = 0;
constexpr int kLeastCapability = 8;  // mma.sync of bf16, cp.async
constexpr double kGiB = 1024.0 * 1024 * 1024;

cudaStream_t native(Stream stream) {
  return static_cast<cudaStream_t>(stream.handle);
}
cudaEvent_t native(Event event) {
  return static_cast<cudaEvent_t>(event.handle);
}

std::string version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

// Where things are given back nothing is thrown: what has failed on the device fails the next call as well.
void let(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
}

class CudaGraph final : public Graph {
 public:
  explicit CudaGraph(cudaGraphExec_t exec) : exec_(exec) {}
  ~CudaGraph() override { let(cudaGraphExecDestroy(exec_)); }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  void launch(Stream stream) override { SHOAL_CUDA(cudaGraphLaunch(exec_, native(stream))); }

 private:
  cudaGraphExec_t exec_;
};

class CudaDevice final : public Device {
 public:
  CudaDevice() {
    SHOAL_CUDA(cudaSetDevice(kGpu));
    SHOAL_CUDA(cudaGetDeviceProperties(&card_, kGpu));
#define SHOAL_OP(function, Args) ops_.function = &cuda::function;
#include "kernels/ops.def"
#undef SHOAL_OP
  }

  std::string_view name() const override {
    return "cuda";
  }
  std::string description() const override {
    return fmt::format("{}, compute capability {}.{}, {} SMs, {:.1f} GiB", card_.name, card_.major,
                       card_.minor, card_.multiProcessorCount,
                       static_cast<double>(card_.totalGlobalMem) / kGiB);
  }
  const OpTable& ops() const override {
    return ops_;
  }
  bool supports(DType dtype) const override {
    return dtype == DType::kBF16;
  }

  std::size_t memory_available() const override {
    std::size_t available = 0, total = 0;
    SHOAL_CUDA(cudaMemGetInfo(&available, &total));
    return available;
  }

  void* allocate(Memory memory, std::size_t bytes) override {
    const std::size_t some = std::max<std::size_t>(bytes, 1);  // a block of none has an address too
    void* block = nullptr;
    const cudaError_t error = memory == Memory::kDevice ? cudaMalloc(&block, some)
                                                        : cudaHostAlloc(&block, some, cudaHostAllocDefault);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      require(memory == Memory::kDevice, "cuda: no pinned host memory for a block of {} bytes", bytes);
      fail("cuda: no memory for a block of {} bytes: {} of {} bytes of the {} are free", bytes,
           memory_available(), card_.totalGlobalMem, card_.name);
    }
    check_cuda(error, memory == Memory::kDevice ? "cudaMalloc" : "cudaHostAlloc", __FILE__, __LINE__);
    return block;
  }
  void release(Memory memory, void* block) override {
    let(memory == Memory::kDevice ? cudaFree(block) : cudaFreeHost(block));
  }

  Stream make_stream() override {
    cudaStream_t stream = nullptr;
    SHOAL_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return {stream};
  }
  void release(Stream stream) override {
    if (stream.handle != nullptr) let(cudaStreamDestroy(native(stream)));
  }
  Event make_event() override {
    cudaEvent_t event = nullptr;
    SHOAL_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return {event};
  }
  void release(Event event) override {
    if (event.handle != nullptr) let(cudaEventDestroy(native(event)));
  }
  void record(Event event, Stream stream) override {
    SHOAL_CUDA(cudaEventRecord(native(event), native(stream)));
  }
  void wait(Stream stream, Event event) override {
    SHOAL_CUDA(cudaStreamWaitEvent(native(stream), native(event), cudaEventWaitDefault));
  }
  void synchronize(Event event) override {
    SHOAL_CUDA(cudaEventSynchronize(native(event)));
  }
  void synchronize(Stream stream) override {
    SHOAL_CUDA(cudaStreamSynchronize(native(stream)));
  }

  void copy(void* to, const void* from, std::size_t bytes, Stream stream) override {
    if (bytes > 0) SHOAL_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, native(stream)));
  }
  void zero(void* to, std::size_t bytes, Stream stream) override {
    if (bytes > 0) SHOAL_CUDA(cudaMemsetAsync(to, 0, bytes, native(stream)));
  }

  // Other threads go on allocating and waiting meanwhile.
  std::unique_ptr<Graph> capture(Stream stream, const std::function<void()>& work) override {
    cudaGraph_t graph = nullptr;
    SHOAL_CUDA(cudaStreamBeginCapture(native(stream), cudaStreamCaptureModeThreadLocal));
    try {
      work();
    } catch (...) {
      let(cudaStreamEndCapture(native(stream), &graph));
      if (graph != nullptr) let(cudaGraphDestroy(graph));
      throw;
    }
    SHOAL_CUDA(cudaStreamEndCapture(native(stream), &graph));
    cudaGraphExec_t exec = nullptr;
    const cudaError_t error = cudaGraphInstantiate(&exec, graph, 0);
    let(cudaGraphDestroy(graph));
    check_cuda(error, "cudaGraphInstantiate", __FILE__, __LINE__);
    auto instance = std::make_unique<CudaGraph>(exec);
    SHOAL_CUDA(cudaGraphUpload(exec, native(stream)));
    return instance;
  }

 private:
  cudaDeviceProp card_{};
  OpTable ops_;
};

}  // namespace

std::string why_no_gpu() {
  int driver = 0, count = 0;
  const cudaError_t asked = cudaDriverGetVersion(&driver);
  if (asked != cudaSuccess || driver == 0) {
    let(asked);
    return "cuda: this machine has no NVIDIA driver";
  }
  const cudaError_t counted = cudaGetDeviceCount(&count);
  let(counted);
  if (counted == cudaErrorInsufficientDriver) {
    return fmt::format(
        "cuda: the NVIDIA driver is for CUDA {} at most, this build needs {}: update the driver",
        version(driver), version(CUDART_VERSION));
  }
  if (counted == cudaErrorNoDevice || (counted == cudaSuccess && count == 0)) {
    return "cuda: the NVIDIA driver finds no GPU";
  }
  if (counted != cudaSuccess) {
    return fmt::format("cuda: the NVIDIA driver finds no GPU: {}", cudaGetErrorString(counted));
  }
  cudaDeviceProp card{};
  const cudaError_t error = cudaGetDeviceProperties(&card, kGpu);
  let(error);
  if (error != cudaSuccess)
    return fmt::format("cuda: the GPU cannot be asked: {}", cudaGetErrorString(error));
  if (card.major < kLeastCapability) {
    return fmt::format("cuda: the {} has compute capability {}.{}; {}.0 (A100) or more is needed", card.name,
                       card.major, card.minor, kLeastCapability);
  }
  return "";
}

std::unique_ptr<Device> make_cuda_device(const DeviceOptions&) {
  const std::string why = why_no_gpu();
  require(why.empty(), "{}", why);
  return std::make_unique<CudaDevice>();
}

}  // namespace shoal::cuda
