// How a tensor core rounds, whole m16n8k16 products at a time. The rule, and the plain form of it that this
// one is tested against, stand in bench/probe/rounding_model.h.
#pragma once

#include <cstdint>

namespace shoal::simt {

struct TensorCore {
  int terms;     // products added in one step
  int fraction;  // bits kept below the largest exponent
};
constexpr TensorCore kAmpere{8, 24};
constexpr TensorCore kHopper{16, 25};

// d += a b. a[i][k], b[k][j]: bf16 bits.
void multiply_m16n8k16(const TensorCore& core, float (&d)[16][8], const std::uint16_t (&a)[16][16],
                       const std::uint16_t (&b)[16][8]);

}  // namespace shoal::simt
