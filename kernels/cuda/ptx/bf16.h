// bf16 in device code: storage is shoal::bf16 or two of them in 32 bits, the lower index in the lower half.
// Rounding is to nearest, ties to even.
#pragma once

#include <ptx/cuda.h>

#include <cstdint>

#include "kernels/base/dtype.h"

namespace shoal::SHOAL_TARGET {

__device__ __forceinline__ std::uint32_t pack_bf16(float low, float high) {
  std::uint32_t both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;\n" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
__device__ __forceinline__ float low_bf16(std::uint32_t both) {
  return __uint_as_float(both << 16);
}
__device__ __forceinline__ float high_bf16(std::uint32_t both) {
  return __uint_as_float(both & 0xffff0000u);
}
__device__ __forceinline__ float to_f32(bf16 value) {
  return __uint_as_float(static_cast<std::uint32_t>(value.bits) << 16);
}
__device__ __forceinline__ bf16 to_bf16(float value) {
  bf16 rounded;
  asm("cvt.rn.bf16.f32 %0, %1;\n" : "=h"(rounded.bits) : "f"(value));
  return rounded;
}
// The value as it is once stored.
__device__ __forceinline__ float round_bf16(float value) {
  return to_f32(to_bf16(value));
}

}  // namespace shoal::SHOAL_TARGET
