#include "bench/probe/gpu.h"
#include "bench/probe/random_fill.h"

namespace shoal::probe {
namespace {

__device__ std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// The sum of four uniform 16-bit numbers, scaled to deviation 1.
__device__ float near_normal(std::uint64_t bits) {
  const int sum = static_cast<int>(bits & 0xFFFF) + static_cast<int>(bits >> 16 & 0xFFFF) +
                  static_cast<int>(bits >> 32 & 0xFFFF) + static_cast<int>(bits >> 48) - 2 * 0xFFFF;
  return static_cast<float>(sum) * (1.0f / 37837.0f);
}

__device__ void store(float* out, float value) {
  *out = value;
}
__device__ void store(__nv_bfloat16* out, float value) {
  *out = __float2bfloat16_rn(value);
}

template <typename T>
__global__ void __launch_bounds__(256) fill_kernel(T* out, std::int64_t count, std::uint64_t seed) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    store(out + i, near_normal(mixed(seed * 0xD1342543DE82EF95ull + static_cast<std::uint64_t>(i))));
  }
}

__global__ void __launch_bounds__(256) differing_kernel(unsigned long long* total, const std::uint32_t* a,
                                                        const std::uint32_t* b, std::int64_t words) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  unsigned long long mine = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += step)
    mine += a[i] != b[i];
  if (mine != 0) atomicAdd(total, mine);  // whole numbers: the order does not matter
}

constexpr int kBlocks = 1024;

}  // namespace

void fill_bf16(__nv_bfloat16* out, std::int64_t count, std::uint64_t seed, cudaStream_t stream) {
  fill_kernel<<<kBlocks, 256, 0, stream>>>(out, count, seed);
  PROBE_LAUNCHED();
}

void fill_f32(float* out, std::int64_t count, std::uint64_t seed, cudaStream_t stream) {
  fill_kernel<<<kBlocks, 256, 0, stream>>>(out, count, seed);
  PROBE_LAUNCHED();
}

std::int64_t count_differing_words(const void* a, const void* b, std::int64_t words, cudaStream_t stream) {
  const DeviceMemory total(sizeof(unsigned long long));
  PROBE_CUDA(cudaMemsetAsync(total.as<void>(), 0, total.bytes(), stream));
  differing_kernel<<<kBlocks, 256, 0, stream>>>(total.as<unsigned long long>(),
                                                static_cast<const std::uint32_t*>(a),
                                                static_cast<const std::uint32_t*>(b), words);
  PROBE_LAUNCHED();
  unsigned long long result = 0;
  PROBE_CUDA(cudaMemcpyAsync(&result, total.as<void>(), sizeof result, cudaMemcpyDeviceToHost, stream));
  PROBE_CUDA(cudaStreamSynchronize(stream));
  return static_cast<std::int64_t>(result);
}

}  // namespace shoal::probe
