// Inputs for the rounding model and the hardware alike: four kinds that stress its steps differently.
//   normal      all of size about 1, c too
//   wide        exponents spread over 24 binades: most terms lose bits in the alignment
//   cancelling  c about minus the dot product: the result is small, its bits are those of the cut
//   zero_c      normal, c = 0: a chain as a GEMM starts it
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace shoal::probe {

constexpr std::array<const char*, 4> kRoundingKinds{"normal", "wide", "cancelling", "zero_c"};

// rows x K and columns x K bf16 bits, rows x columns f32, of `problems` problems.
struct RoundingData {
  int rows, columns, K, problems;
  std::vector<std::uint16_t> a, b;
  std::vector<float> c;

  const std::uint16_t* a_row(int problem, int row) const {
    return a.data() + (std::int64_t{problem} * rows + row) * K;
  }
  const std::uint16_t* b_row(int problem, int column) const {
    return b.data() + (std::int64_t{problem} * columns + column) * K;
  }
};

RoundingData rounding_data(const std::string& kind, int rows, int columns, int K, int problems,
                           std::uint64_t seed);

std::uint16_t to_bf16(float value);  // to nearest, ties to even; value finite
float from_bf16(std::uint16_t bits);

}  // namespace shoal::probe
