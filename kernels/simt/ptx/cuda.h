// The CUDA language for g++: what the kernels use of it, in terms of the executor. The twin of
// kernels/cuda/ptx/cuda.h.
#pragma once

#include <math.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "kernels/simt/block.h"
#include "kernels/simt/streams.h"
#include "kernels/table.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

#define threadIdx (::shoal::simt::thread_index())
#define blockIdx (::shoal::simt::block_index())
#define blockDim (::shoal::simt::block_size())
#define gridDim (::shoal::simt::grid_size())

#define SHOAL_SHARED(Type, name) \
  Type& name = *static_cast<Type*>(::shoal::simt::static_shared_memory(sizeof(Type), alignof(Type)))
#define SHOAL_DYNAMIC_SHARED(Type, name) \
  Type& name = *static_cast<Type*>(::shoal::simt::dynamic_shared_memory())
// What the host has made sure of: looked at here alone.
#define SHOAL_DEVICE_CHECK(condition)                                                                  \
  do {                                                                                                 \
    if (!(condition)) ::shoal::simt::fault_at(#condition " is false", ::shoal::simt::Site::current()); \
  } while (false)

namespace shoal::simt {

constexpr unsigned kFullWarp = 0xffffffffu;

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) {
  return {x, y};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}
inline int2 make_int2(int x, int y) {
  return {x, y};
}
inline int4 make_int4(int x, int y, int z, int w) {
  return {x, y, z, w};
}
inline float2 make_float2(float x, float y) {
  return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}

// A collective knows its own by the place of the call.
inline void __syncthreads(Site at = Site::current()) {
  sync_block(at);
}
inline void __syncwarp(unsigned mask = kFullWarp, Site at = Site::current()) {
  sync_warp(mask, at);
}

template <typename T>
T shuffle(unsigned mask, T value, int lane, Site at) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<T>(static_cast<Bits>(shuffle_bits(mask, std::bit_cast<Bits>(value), lane, at)));
}
template <typename T>
T __shfl_sync(unsigned mask, T value, int lane, Site at = Site::current()) {
  return shuffle(mask, value, lane & 31, at);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int apart, Site at = Site::current()) {
  return shuffle(mask, value, lane_index() ^ apart, at);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, int apart, Site at = Site::current()) {
  const int lane = lane_index() + apart;
  return shuffle(mask, value, lane < 32 ? lane : lane_index(), at);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, int apart, Site at = Site::current()) {
  const int lane = lane_index() - apart;
  return shuffle(mask, value, lane >= 0 ? lane : lane_index(), at);
}
inline unsigned __ballot_sync(unsigned mask, bool vote, Site at = Site::current()) {
  return ballot(mask, vote, at);
}
inline bool __any_sync(unsigned mask, bool vote, Site at = Site::current()) {
  return ballot(mask, vote, at) != 0;
}
inline bool __all_sync(unsigned mask, bool vote, Site at = Site::current()) {
  return ballot(mask, vote, at) == mask;
}

template <typename A, typename B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  return b < a ? static_cast<std::common_type_t<A, B>>(b) : static_cast<std::common_type_t<A, B>>(a);
}
template <typename A, typename B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  return a < b ? static_cast<std::common_type_t<A, B>>(b) : static_cast<std::common_type_t<A, B>>(a);
}
inline bool isnan(float x) {
  return __builtin_isnan(x);
}
inline bool isinf(float x) {
  return __builtin_isinf(x) != 0;
}
inline bool isfinite(float x) {
  return __builtin_isfinite(x);
}
inline bool isnan(double x) {
  return __builtin_isnan(x);
}
inline bool isinf(double x) {
  return __builtin_isinf(x) != 0;
}
inline bool isfinite(double x) {
  return __builtin_isfinite(x);
}
inline float rsqrtf(float x) {
  return 1.0f / sqrtf(x);
}
inline float __expf(float x) {
  return expf(x);
}
inline float __logf(float x) {
  return logf(x);
}
inline float __fdividef(float x, float y) {
  return x / y;
}
inline float __frcp_rn(float x) {
  return 1.0f / x;
}
inline float __fmaf_rn(float x, float y, float z) {
  return fmaf(x, y, z);
}
inline std::uint32_t __float_as_uint(float x) {
  return std::bit_cast<std::uint32_t>(x);
}
inline float __uint_as_float(std::uint32_t x) {
  return std::bit_cast<float>(x);
}
inline int __float_as_int(float x) {
  return std::bit_cast<int>(x);
}
inline float __int_as_float(int x) {
  return std::bit_cast<float>(x);
}
inline int __popc(unsigned x) {
  return std::popcount(x);
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(x) * y) >> 32);
}
template <typename T>
T __ldg(const T* p) {
  return *p;
}

struct Launch {
  const char* name = "";  // of the op, for reports
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;  // bytes of dynamic shared memory
  Stream stream;
};

// launch<kernel>({.name = .., .grid = .., ..}, args...): the args are converted to the kernel's parameters.
template <auto kKernel>
struct Launcher;
template <typename... P, void (*kKernel)(P...)>
struct Launcher<kKernel> {
  static void run(const Launch& how, P... args) {
    enqueue(how.stream, [how, all = std::tuple<P...>(args...)] {
      run_grid(settings(how.stream),
               {how.name, how.grid, how.block, how.shared, reinterpret_cast<const char*>(&all), sizeof all},
               [](const char* at) { std::apply(kKernel, *reinterpret_cast<const std::tuple<P...>*>(at)); });
    });
  }
};
template <auto kKernel, typename... A>
void launch(const Launch& how, const A&... args) {
  Launcher<kKernel>::run(how, args...);
}

}  // namespace shoal::simt
