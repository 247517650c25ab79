// The twin of kernels/cuda/ptx/bf16.h.
#pragma once

#include <ptx/cuda.h>

#include <cstdint>

#include "kernels/base/dtype.h"

namespace shoal::simt {

inline bf16 to_bf16(float value) {
  // cvt.rn.bf16.f32 makes every NaN the one canonical NaN.
  bf16 rounded(value);
  if (isnan(value)) rounded.bits = 0x7fff;
  return rounded;
}
inline std::uint32_t pack_bf16(float low, float high) {
  return to_bf16(low).bits | static_cast<std::uint32_t>(to_bf16(high).bits) << 16;
}
inline float low_bf16(std::uint32_t both) {
  return __uint_as_float(both << 16);
}
inline float high_bf16(std::uint32_t both) {
  return __uint_as_float(both & 0xffff0000u);
}
inline float to_f32(bf16 value) {
  return __uint_as_float(static_cast<std::uint32_t>(value.bits) << 16);
}
inline float round_bf16(float value) {
  return to_f32(to_bf16(value));
}

}  // namespace shoal::simt
