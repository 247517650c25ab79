// Part "bandwidth": what device memory gives to a plain kernel, by itself.
#include "bench/probe/gpu.h"
#include "bench/probe/part.h"
#include "bench/probe/plan.h"
#include "bench/probe/random_fill.h"
#include "bench/probe/timing.h"

namespace shoal::probe {
namespace {

constexpr int kThreads = 512;
constexpr int kInFlight = 4;  // independent 16-byte accesses of a thread

// Block b takes tiles b, b + gridDim.x, ...; a tile is kThreads * kInFlight accesses. Sizes are whole tiles.
template <typename Access>
__device__ void each_tile(long long tiles, Access access) {
  for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x)
    access(tile * kThreads * kInFlight + threadIdx.x);
}

__global__ void __launch_bounds__(kThreads) copy_kernel(uint4* out, const uint4* in, long long tiles) {
  each_tile(tiles, [=](long long at) {
    uint4 v[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) v[i] = in[at + i * kThreads];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) out[at + i * kThreads] = v[i];
  });
}

__global__ void __launch_bounds__(kThreads) read_kernel(unsigned* out, const uint4* in, long long tiles) {
  unsigned sum = 0;
  each_tile(tiles, [=, &sum](long long at) {
    uint4 v[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) v[i] = in[at + i * kThreads];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) sum += v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
  });
  // Keeps the loads: nothing is stored on real data, since a sum may not be known to the compiler.
  if (sum == 0x5EEDu) *out = sum;
}

__global__ void __launch_bounds__(kThreads) write_kernel(uint4* out, long long tiles, unsigned seed) {
  each_tile(tiles, [=](long long at) {
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const unsigned x = (static_cast<unsigned>(at) + i * kThreads) * 2654435761u + seed;
      out[at + i * kThreads] = make_uint4(x, x ^ 0x9E3779B9u, x * 3, ~x);
    }
  });
}

}  // namespace

void run_bandwidth(PartContext& context) {
  const Card c = card();
  const std::size_t bytes = static_cast<std::size_t>(size::kStream);
  const DeviceMemory from(bytes), to(bytes);  // 1 GiB each: far beyond three times any L2
  fill_bf16(from.as<__nv_bfloat16>(), static_cast<std::int64_t>(bytes / 2), 1, nullptr);
  PROBE_CUDA(cudaDeviceSynchronize());
  const long long tiles = static_cast<long long>(bytes / (16 * kThreads * kInFlight));
  const int blocks = c.sms * 4;

  const Spread copy = time_calls(context, [&](cudaStream_t s, int) {
    copy_kernel<<<blocks, kThreads, 0, s>>>(to.as<uint4>(), from.as<uint4>(), tiles);
    PROBE_LAUNCHED();
  });
  if (count_differing_words(from.as<void>(), to.as<void>(), static_cast<std::int64_t>(bytes / 4), nullptr) !=
      0) {
    throw std::runtime_error("the copy kernel did not copy");
  }
  context.emit(Measure("bandwidth.copy", "GB/s", rate_of(copy, 2e-9 * double(bytes))));

  const Spread memcpy_time = time_calls(context, [&](cudaStream_t s, int) {
    PROBE_CUDA(cudaMemcpyAsync(to.as<void>(), from.as<void>(), bytes, cudaMemcpyDeviceToDevice, s));
  });
  context.emit(Measure("bandwidth.memcpy", "GB/s", rate_of(memcpy_time, 2e-9 * double(bytes))));

  const Spread read = time_calls(context, [&](cudaStream_t s, int call) {
    const DeviceMemory& source = call % 2 == 0 ? from : to;
    read_kernel<<<blocks, kThreads, 0, s>>>(to.as<unsigned>(), source.as<uint4>(), tiles);
    PROBE_LAUNCHED();
  });
  context.emit(Measure("bandwidth.read", "GB/s", rate_of(read, 1e-9 * double(bytes))));

  const Spread write = time_calls(context, [&](cudaStream_t s, int call) {
    write_kernel<<<blocks, kThreads, 0, s>>>((call % 2 == 0 ? to : from).as<uint4>(), tiles,
                                             static_cast<unsigned>(call));
    PROBE_LAUNCHED();
  });
  context.emit(Measure("bandwidth.write", "GB/s", rate_of(write, 1e-9 * double(bytes))));
}

}  // namespace shoal::probe
