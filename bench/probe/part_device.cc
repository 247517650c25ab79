// Part "device": whose numbers these are, and what a copy between host and device costs.
#include <cstring>
#include <memory>
#include <vector>

#include "bench/probe/gpu.h"
#include "bench/probe/nvml.h"
#include "bench/probe/part.h"
#include "bench/probe/plan.h"
#include "bench/probe/timing.h"

namespace shoal::probe {
namespace {

constexpr int kHostBuffers = 3;  // rotated: one buffer of 256 MiB could sit in the host's last-level cache

Measure describe(const Card& c) {
  int runtime = 0, driver = 0;
  PROBE_CUDA(cudaRuntimeGetVersion(&runtime));
  PROBE_CUDA(cudaDriverGetVersion(&driver));
  char bus[32] = "";
  PROBE_CUDA(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  Measure m("device", "");
  m.with("name", c.name)
      .with("compute_capability", std::to_string(c.major) + "." + std::to_string(c.minor))
      .with("sms", c.sms)
      .with("l2_bytes", std::int64_t(c.l2))
      .with("memory_bytes", std::int64_t(c.memory))
      .with("shared_bytes_per_block", std::int64_t(c.shared_per_block))
      .with("cuda_runtime", runtime)
      .with("cuda_driver", driver);
  const Nvml nvml(bus);
  const CardState s = nvml.state();
  m.with("nvml", s.known);
  if (s.known) {
    m.with("driver", nvml.driver())
        .with("sm_mhz_as_found", s.sm_mhz)
        .with("sm_mhz_most", s.sm_mhz_most)
        .with("memory_mhz_as_found", s.memory_mhz)
        .with("watts_as_found", s.watts)
        .with("watts_cap", s.watts_cap)
        .with("celsius", s.celsius);
  }
  return m;
}

class HostBuffers {
 public:
  HostBuffers(bool pinned, std::size_t bytes) : pinned_(pinned) {
    for (int i = 0; i < kHostBuffers; ++i) {
      void* p = nullptr;
      if (pinned) {
        PROBE_CUDA(cudaHostAlloc(&p, bytes, cudaHostAllocDefault));
      } else {
        pageable_.push_back(std::make_unique<char[]>(bytes));
        p = pageable_.back().get();
      }
      buffers_.push_back(p);
      // Touched and not constant: an untouched page would be one shared page of zeros.
      auto* words = static_cast<std::uint32_t*>(p);
      for (std::size_t w = 0; w < bytes / 4; ++w) words[w] = static_cast<std::uint32_t>(w * 2654435761u + i);
    }
  }
  HostBuffers(const HostBuffers&) = delete;
  HostBuffers& operator=(const HostBuffers&) = delete;
  ~HostBuffers() {
    for (void* p : buffers_) {
      if (pinned_) cudaFreeHost(p);
    }
  }
  void* at(int call) const { return buffers_[static_cast<std::size_t>(call % kHostBuffers)]; }

 private:
  bool pinned_;
  std::vector<std::unique_ptr<char[]>> pageable_;
  std::vector<void*> buffers_;
};

Spread time_copies(const PartContext& context, const HostBuffers& host, const DeviceMemory& device,
                   std::size_t bytes, bool to_device) {
  const auto copy = [&](cudaStream_t stream, int call) {
    if (to_device) {
      PROBE_CUDA(cudaMemcpyAsync(device.as<void>(), host.at(call), bytes, cudaMemcpyHostToDevice, stream));
    } else {
      PROBE_CUDA(cudaMemcpyAsync(host.at(call), device.as<void>(), bytes, cudaMemcpyDeviceToHost, stream));
    }
  };
  return time_calls(context, copy, {0.5, false});
}

}  // namespace

void run_device(PartContext& context) {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) throw NoGpu(cudaGetErrorString(status));
  if (devices == 0) throw NoGpu("the driver lists no device");
  const Card c = card();
  if (c.major < 8) throw NoGpu(c.name + " is older than compute capability 8.0");
  context.emit(describe(c));

  const auto large = static_cast<std::size_t>(size::kTransfer),
             block = static_cast<std::size_t>(size::kStepBlock);
  const DeviceMemory device(large);
  for (const bool pinned : {true, false}) {
    const HostBuffers host(pinned, large);
    for (const bool to_device : {true, false}) {
      const std::string name =
          std::string("transfer.") + (to_device ? "h2d" : "d2h") + (pinned ? ".pinned" : ".pageable");
      const Spread s = time_copies(context, host, device, large, to_device);
      context.emit(Measure(name, "GB/s", rate_of(s, double(large) * 1e-9)));
      if (!pinned) continue;
      context.emit(Measure(name + ".step_block", "us",
                           scaled(time_copies(context, host, device, block, to_device), 1e6)));
    }
  }
}

}  // namespace shoal::probe
