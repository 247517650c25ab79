#include "tests/cuda/fake_runtime.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

namespace shoal::test {
namespace {

// Of the H100 and H200, which allow most.
constexpr std::size_t kSharedUnasked = 48 << 10, kSharedMost = 227 << 10;

struct Kernel {
  std::string name;
  std::size_t shared = kSharedUnasked;
};
std::map<const void*, Kernel>& kernels() {  // filled before main
  static std::map<const void*, Kernel> all;
  return all;
}

std::map<void*, std::size_t> blocks;
std::uintptr_t next_block = std::uintptr_t{1} << 44;
int handles = 0;

cudaError_t tell(cudaError_t error) {
  if (error != cudaSuccess) fake_machine().last_error = error;
  return error;
}
cudaError_t call(std::string what) {
  fake_machine().calls.push_back(std::move(what));
  return tell(std::exchange(fake_machine().next_error, cudaSuccess));
}
template <typename Handle>
cudaError_t make(Handle* handle, const char* what) {
  *handle = reinterpret_cast<Handle>(static_cast<std::uintptr_t>(++handles));
  return call(what);
}

}  // namespace

FakeMachine& fake_machine() {
  static FakeMachine machine;
  return machine;
}

}  // namespace shoal::test

using namespace shoal::test;

extern "C" {

// What the code that nvcc writes calls before main, and in the stubs of kernels.
void** __cudaRegisterFatBinary(void*) {
  static void* binary = nullptr;
  return &binary;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, void*, void*, void*,
                            void*, int*) {
  kernels()[host].name = name;
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) {
  return cudaErrorNotSupported;
}
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*) {
  return cudaErrorNotSupported;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return cudaErrorNotSupported;
}

cudaError_t cudaGetLastError() {
  return std::exchange(fake_machine().last_error, cudaSuccess);
}
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration ? "cudaErrorInvalidConfiguration"
         : error == cudaErrorLaunchFailure      ? "cudaErrorLaunchFailure"
                                                : "cudaErrorOfThisTest";
}
const char* cudaGetErrorString(cudaError_t) {
  return "as planted";
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = fake_machine().driver;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = fake_machine().cards;
  return tell(fake_machine().count_error);
}
cudaError_t cudaSetDevice(int) {
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* card, int) {
  *card = {};
  std::strcpy(card->name, "Imagined Card");
  card->major = fake_machine().major;
  card->multiProcessorCount = 7;
  card->totalGlobalMem = fake_machine().memory;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  *total = fake_machine().memory;
  *available = fake_machine().memory - fake_machine().used;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** block, std::size_t bytes) {
  if (bytes > fake_machine().memory - fake_machine().used) return tell(cudaErrorMemoryAllocation);
  *block = reinterpret_cast<void*>(next_block);
  next_block += (bytes + 511) / 256 * 256;
  blocks[*block] = bytes;
  fake_machine().used += bytes;
  return cudaSuccess;
}
cudaError_t cudaFree(void* block) {
  if (block == nullptr) return cudaSuccess;
  const auto found = blocks.find(block);
  if (found == blocks.end()) return tell(cudaErrorInvalidValue);
  fake_machine().used -= found->second;
  blocks.erase(found);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** block, std::size_t bytes, unsigned) {
  *block = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return *block == nullptr ? tell(cudaErrorMemoryAllocation) : cudaSuccess;
}
cudaError_t cudaFreeHost(void* block) {
  std::free(block);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return make(stream, flags == cudaStreamNonBlocking ? "make a non-blocking stream" : "make a stream");
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
  return call("release a stream");
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return make(event, flags == cudaEventDisableTiming ? "make an event without time" : "make an event");
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
  return call("release an event");
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return call("record");
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return call("wait");
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return call("synchronize an event");
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return call("synchronize a stream");
}
cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind kind, cudaStream_t) {
  return call(kind == cudaMemcpyDefault ? "copy" : "copy one way");
}
cudaError_t cudaMemsetAsync(void*, int value, std::size_t, cudaStream_t) {
  return call(value == 0 ? "zero" : "set");
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode mode) {
  return call(mode == cudaStreamCaptureModeThreadLocal ? "begin a capture of this thread"
                                                       : "begin a capture");
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  return make(graph, "end a capture");
}
cudaError_t cudaGraphDestroy(cudaGraph_t) {
  return call("destroy a graph");
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t, unsigned long long) {
  return make(exec, "instantiate");
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  return call("upload");
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return call("launch a graph");
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  return call("destroy an instance");
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || kernels().count(kernel) == 0 ||
      static_cast<std::size_t>(value) > kSharedMost) {
    return tell(cudaErrorInvalidValue);
  }
  kernels()[kernel].shared = std::max(kSharedUnasked, static_cast<std::size_t>(value));
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void**, std::size_t shared,
                             cudaStream_t) {
  if (kernels().count(kernel) == 0) return tell(cudaErrorInvalidDeviceFunction);
  const Kernel& known = kernels()[kernel];
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  const bool possible = threads >= 1 && threads <= 1024 && block.z <= 64 && shared <= known.shared &&
                        grid.x >= 1 && grid.x < (1u << 31) && grid.y >= 1 && grid.y < 65536 && grid.z >= 1 &&
                        grid.z < 65536;
  if (!possible) return tell(cudaErrorInvalidConfiguration);
  fake_machine().launches.push_back({known.name, grid, block, shared});
  return tell(std::exchange(fake_machine().next_error, cudaSuccess));
}

}  // extern "C"
