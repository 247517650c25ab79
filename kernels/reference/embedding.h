// The three embedding tables of BERT: the sum that LayerNorm receives, and the gradients of the tables.
#pragma once

#include <vector>

#include "kernels/reference/matrix.h"

namespace shoal::reference {

// One slot's tokens.
struct Tokens {
  std::vector<int> ids, positions, types;
  Eigen::Index rows() const { return static_cast<Eigen::Index>(ids.size()); }
};

template <typename T>
Matrix<T> embedding_sum(const Tokens& tokens, const Matrix<T>& word, const Matrix<T>& position,
                        const Matrix<T>& type) {
  Matrix<T> z(tokens.rows(), word.cols());
  for (Eigen::Index i = 0; i < tokens.rows(); ++i) {
    z.row(i) = word.row(tokens.ids[i]) + position.row(tokens.positions[i]) + type.row(tokens.types[i]);
  }
  return z;
}

// Adds dz's rows into those of dtable that `index` names.
template <typename T>
void embedding_backward(Matrix<T>& dtable, const Matrix<T>& dz, const std::vector<int>& index) {
  for (Eigen::Index i = 0; i < dz.rows(); ++i) dtable.row(index[i]) += dz.row(i);
}

}  // namespace shoal::reference
