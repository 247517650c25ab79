// IEEE binary16 as a storage format: two plain functions on its bits.
#pragma once

#include <cstdint>

namespace shoal::models {

// Exact, subnormals, infinities and NaN included.
float half_to_float(std::uint16_t bits);

// Rounds to nearest, ties to even; what is too large becomes infinity.
std::uint16_t float_to_half(float value);

}  // namespace shoal::models
