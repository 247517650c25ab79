// Dropout masks as matrices of factors, 0 or 65536 / threshold, straight from the table in philox.h.
#pragma once

#include <cstdint>

#include "kernels/base/philox.h"
#include "kernels/reference/matrix.h"

namespace shoal::reference {

// What one slot's dropout at one site depends on. threshold 65536 keeps every element.
struct DropoutKey {
  std::uint64_t seed = 0;
  std::uint32_t update = 0;
  std::uint32_t micro = 0;
  std::uint32_t site = 0;
  std::uint32_t threshold = 65536;

  double scale() const { return 65536.0 / threshold; }
  std::uint32_t c1() const { return micro << 16 | site; }
};

template <typename T>
Matrix<T> hidden_factors(const DropoutKey& key, Eigen::Index rows, Eigen::Index columns) {
  Matrix<T> factors(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < columns; ++j) {
      const std::uint64_t element = static_cast<std::uint64_t>(i * columns + j);
      const Philox4 r =
          philox4x32_10(key.seed, key.update, key.c1(), static_cast<std::uint32_t>(element / 8), 0);
      const bool keep = philox_u16(r, static_cast<int>(element % 8)) < key.threshold;
      factors(i, j) = keep ? T(static_cast<float>(key.scale())) : T(0);
    }
  }
  return factors;
}

// Of the probabilities of one head of one sequence: i is the query, j the key.
template <typename T>
Matrix<T> attention_factors(const DropoutKey& key, std::uint32_t sequence, std::uint32_t head,
                            Eigen::Index length) {
  Matrix<T> factors(length, length);
  for (int i = 0; i < length; ++i) {
    for (int j = 0; j < length; ++j) {
      const Philox4 r = philox4x32_10(
          key.seed, key.update, key.c1(), sequence << 16 | head << 8 | attention_dropout_lane(i, j),
          static_cast<std::uint32_t>(i >> 4) << 16 | static_cast<std::uint32_t>(j >> 4));
      const bool keep = philox_u16(r, attention_dropout_slot(i, j)) < key.threshold;
      factors(i, j) = keep ? T(static_cast<float>(key.scale())) : T(0);
    }
  }
  return factors;
}

}  // namespace shoal::reference
