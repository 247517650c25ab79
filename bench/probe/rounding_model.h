// How a tensor core rounds a bf16 dot product with an f32 accumulator, bit by bit (CUDA_NOTES 7.4; the
// behaviour is the published one of arXiv 2511.10909 and 2512.07004, the code is ours).
//
// One step takes `terms` products and the accumulator. Each term is cut toward zero at `fraction` bits below
// the largest exponent among them (a product's exponent is the sum of its factors', not normalised); the cut
// terms are added exactly; the sum is cut toward zero to f32. Longer dot products chain steps, k ascending.
//   A100 mma.sync m16n8k16   two steps of 8 terms, 24 fraction bits
//   H100 mma.sync and wgmma  one step of 16 terms, 25 fraction bits
// Infinities and NaNs are not modelled: the caller keeps them out.
#pragma once

#include <cstdint>

namespace shoal::probe {

struct TensorCore {
  int terms;
  int fraction;
};
constexpr TensorCore kAmpere{8, 24};
constexpr TensorCore kHopper{16, 25};

// c + sum of a[i] * b[i], i < count ascending; count a multiple of core.terms; a, b are bf16 bits.
float tensor_core_dot(const TensorCore& core, const std::uint16_t* a, const std::uint16_t* b, int count,
                      float c);

}  // namespace shoal::probe
