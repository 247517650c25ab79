// The loss of a regression with one output, and its gradient.
#pragma once

#include "kernels/reference/matrix.h"

namespace shoal::reference {

template <typename T>
struct SquaredErrorResult {
  T loss = T(0);          // inv_items * sum of row_loss
  ColVector<T> row_loss;  // [rows]
  Matrix<T> dlogits;      // [rows, n]: zeros beyond column 0
};

template <typename T>
SquaredErrorResult<T> squared_error(const Matrix<T>& logits, const ColVector<T>& targets, T inv_items) {
  SquaredErrorResult<T> r;
  r.row_loss = ColVector<T>::Zero(logits.rows());
  r.dlogits = Matrix<T>::Zero(logits.rows(), logits.cols());
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    const T error = logits(i, 0) - targets(i);
    r.row_loss(i) = error * error;
    r.dlogits(i, 0) = inv_items * T(2) * error;
    r.loss += r.row_loss(i);
  }
  r.loss *= inv_items;
  return r;
}

}  // namespace shoal::reference
