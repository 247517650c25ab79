// Eight consecutive bf16 as one 16-byte load or store, and as floats.
#pragma once

#include <ptx/bf16.h>

namespace shoal::SHOAL_TARGET {

__device__ __forceinline__ void unpack8(float (&v)[8], const uint4& packed) {
  v[0] = low_bf16(packed.x);
  v[1] = high_bf16(packed.x);
  v[2] = low_bf16(packed.y);
  v[3] = high_bf16(packed.y);
  v[4] = low_bf16(packed.z);
  v[5] = high_bf16(packed.z);
  v[6] = low_bf16(packed.w);
  v[7] = high_bf16(packed.w);
}
__device__ __forceinline__ uint4 pack8(const float (&v)[8]) {
  return make_uint4(pack_bf16(v[0], v[1]), pack_bf16(v[2], v[3]), pack_bf16(v[4], v[5]),
                    pack_bf16(v[6], v[7]));
}
__device__ __forceinline__ void load8(float (&v)[8], const void* from) {
  unpack8(v, *static_cast<const uint4*>(from));
}
__device__ __forceinline__ void store8(void* to, const float (&v)[8]) {
  *static_cast<uint4*>(to) = pack8(v);
}
__device__ __forceinline__ void store8_zeros(void* to) {
  *static_cast<uint4*>(to) = make_uint4(0, 0, 0, 0);
}
// Eight floats as two loads.
__device__ __forceinline__ void load8_f32(float (&v)[8], const float* from) {
  const float4 a = reinterpret_cast<const float4*>(from)[0], b = reinterpret_cast<const float4*>(from)[1];
  v[0] = a.x;
  v[1] = a.y;
  v[2] = a.z;
  v[3] = a.w;
  v[4] = b.x;
  v[5] = b.y;
  v[6] = b.z;
  v[7] = b.w;
}

}  // namespace shoal::SHOAL_TARGET
