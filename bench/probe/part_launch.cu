// Part "launch": what a kernel costs beside its work. A chain of kernels in a graph, with plain edges and
// with programmatic dependent launch; the same without a graph; a block that has nothing to do.
#include <chrono>
#include <vector>

#include "bench/probe/gpu.h"
#include "bench/probe/part.h"
#include "bench/probe/plan.h"
#include "bench/probe/ptx.cuh"
#include "bench/probe/timing.h"

namespace shoal::probe {
namespace {

constexpr int kThreads = 256;
constexpr int kRuns = 25;

// The least a kernel of a chain may do: wait for the one before, let the one after start.
__global__ void __launch_bounds__(kThreads) link_kernel() {
  ptx::grid_launch_dependents();
  ptx::grid_dependency_wait();
}

__global__ void __launch_bounds__(kThreads) exit_kernel() {}

// As a work list's kernel ends where the list is shorter than the grid.
__global__ void __launch_bounds__(kThreads) count_kernel(const int* count, int* out) {
  if (static_cast<int>(blockIdx.x) >= *count) return;
  out[blockIdx.x] = 1;
}

void launch_link(cudaStream_t stream, int blocks, bool programmatic) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = programmatic ? 1 : 0;
  PROBE_CUDA(cudaLaunchKernelEx(&config, link_kernel));
}

class Chain {
 public:
  Chain(cudaStream_t stream, int blocks, bool programmatic) {
    PROBE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < size::kGraphNodes; ++i) launch_link(stream, blocks, programmatic);
    PROBE_CUDA(cudaStreamEndCapture(stream, &graph_));
    PROBE_CUDA(cudaGraphInstantiate(&exec_, graph_, 0));
    PROBE_CUDA(cudaGraphUpload(exec_, stream));
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;
  ~Chain() {
    if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }
  void launch(cudaStream_t stream) const { PROBE_CUDA(cudaGraphLaunch(exec_, stream)); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

struct Times {
  Spread device, host;  // seconds of one piece of work
};

// Device time between events, host time of the call that enqueues.
template <typename Work>
Times time_both(const PartContext& context, cudaStream_t stream, Work work) {
  context.check_time();
  work();  // loads the module
  PROBE_CUDA(cudaStreamSynchronize(stream));
  const Event begin, end;
  std::vector<double> device, host;
  for (int i = 0; i < kRuns; ++i) {
    PROBE_CUDA(cudaEventRecord(begin, stream));
    const auto before = std::chrono::steady_clock::now();
    work();
    host.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    PROBE_CUDA(cudaEventRecord(end, stream));
    PROBE_CUDA(cudaEventSynchronize(end));
    device.push_back(seconds_between(begin, end));
  }
  return {spread_of(device), spread_of(host)};
}

void chains(const PartContext& context, const Card& c) {
  const Stream stream;
  constexpr double kPerNode = 1e6 / size::kGraphNodes;  // to microseconds
  for (const bool full : {false, true}) {
    for (const bool programmatic : {false, true}) {
      if (programmatic && !c.hopper()) continue;
      const int blocks = full ? c.sms : 1;
      launch_link(stream, blocks, programmatic);
      PROBE_CUDA(cudaStreamSynchronize(stream));
      const Chain chain(stream, blocks, programmatic);
      const Times t = time_both(context, stream, [&] { chain.launch(stream); });
      const std::string name = std::string("launch.edge.") + (programmatic ? "programmatic." : "plain.");
      context.emit(Measure(name + (full ? "full_grid" : "one_block"), "us", scaled(t.device, kPerNode))
                       .with("blocks", blocks));
      if (!full && !programmatic)
        context.emit(
            Measure("launch.graph.host", "us", scaled(t.host, 1e6)).with("kernels", size::kGraphNodes));
    }
  }
  const Times t = time_both(context, stream, [&] {
    for (int i = 0; i < size::kGraphNodes; ++i) launch_link(stream, 1, false);
  });
  context.emit(Measure("launch.stream", "us", scaled(t.device, kPerNode)));
  context.emit(Measure("launch.stream.host", "us", scaled(t.host, kPerNode)));
}

void empty_blocks(const PartContext& context) {
  constexpr double kPerBlock = 1e9 / size::kEmptyBlocks;  // to nanoseconds
  const DeviceMemory count(sizeof(int)), out(sizeof(int) * size::kEmptyBlocks);
  PROBE_CUDA(cudaMemset(count.as<void>(), 0, sizeof(int)));
  PROBE_CUDA(cudaDeviceSynchronize());
  const Spread exits = time_calls(context, [](cudaStream_t s, int) {
    exit_kernel<<<size::kEmptyBlocks, kThreads, 0, s>>>();
    PROBE_LAUNCHED();
  });
  context.emit(
      Measure("launch.empty_block.exit", "ns", scaled(exits, kPerBlock)).with("blocks", size::kEmptyBlocks));
  const Spread counts = time_calls(context, [&](cudaStream_t s, int) {
    count_kernel<<<size::kEmptyBlocks, kThreads, 0, s>>>(count.as<int>(), out.as<int>());
    PROBE_LAUNCHED();
  });
  context.emit(Measure("launch.empty_block.count", "ns", scaled(counts, kPerBlock))
                   .with("blocks", size::kEmptyBlocks));
}

}  // namespace

void run_launch(PartContext& context) {
  chains(context, card());
  empty_blocks(context);
}

}  // namespace shoal::probe
