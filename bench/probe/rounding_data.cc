#include "bench/probe/rounding_data.h"

#include <cmath>
#include <cstring>
#include <random>

namespace shoal::probe {

std::uint16_t to_bf16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float from_bf16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

RoundingData rounding_data(const std::string& kind, int rows, int columns, int K, int problems,
                           std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> binade(-12, 11);
  const auto value = [&] {
    return kind == "wide" ? std::ldexp(normal(random), binade(random)) : normal(random);
  };

  RoundingData data{rows, columns, K, problems, {}, {}, {}};
  data.a.resize(std::size_t(problems) * rows * K);
  data.b.resize(std::size_t(problems) * columns * K);
  data.c.resize(std::size_t(problems) * rows * columns);
  for (auto& x : data.a) x = to_bf16(value());
  for (auto& x : data.b) x = to_bf16(value());
  if (kind == "zero_c") return data;
  for (int p = 0; p < problems; ++p) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        double c = value();
        if (kind == "cancelling") {
          c *= 1e-3;
          for (int k = 0; k < K; ++k)
            c -= double(from_bf16(data.a_row(p, row)[k])) * from_bf16(data.b_row(p, column)[k]);
        }
        data.c[(std::size_t(p) * rows + row) * columns + column] = static_cast<float>(c);
      }
    }
  }
  return data;
}

}  // namespace shoal::probe
