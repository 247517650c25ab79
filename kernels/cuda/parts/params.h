// Walking over the parameters of a slot: one block takes one ParamChunk of the table, each thread groups of
// four elements. A group that passes the end of the slot's own elements is loaded and stored one by one.
#pragma once

#include <ptx/cuda.h>

#include "kernels/optimizer.h"

namespace shoal::SHOAL_TARGET {

constexpr int kParamThreads = 256;
constexpr int kGroup = 4;

// Elements of the chunk that are slot `slot`'s own; 0 or less: none.
__device__ __forceinline__ int own_elements(const ParamTable& table, const ParamChunk& chunk, int slot) {
  const std::int64_t own =
      table.own[static_cast<std::int64_t>(slot) * table.tensors + chunk.tensor] - chunk.begin;
  return static_cast<int>(min(kParamChunk, own));
}

// f32 elements at[0 .. 4), zeros from `left` on.
__device__ __forceinline__ float4 load_group(const float* at, int left) {
  if (left >= kGroup) return *reinterpret_cast<const float4*>(at);
  return make_float4(at[0], left > 1 ? at[1] : 0, left > 2 ? at[2] : 0, 0);
}
__device__ __forceinline__ void store_group(float* at, const float4& v, int left) {
  if (left >= kGroup) {
    *reinterpret_cast<float4*>(at) = v;
    return;
  }
  at[0] = v.x;
  if (left > 1) at[1] = v.y;
  if (left > 2) at[2] = v.z;
}

}  // namespace shoal::SHOAL_TARGET
