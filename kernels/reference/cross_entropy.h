// Softmax cross-entropy with label smoothing, and its gradient. A row with label -1 has loss 0.
#pragma once

#include <cmath>
#include <vector>

#include "kernels/reference/matrix.h"

namespace shoal::reference {

template <typename T>
struct CrossEntropyResult {
  T loss = T(0);          // inv_items * sum of row_loss
  ColVector<T> row_loss;  // [rows]
  Matrix<T> dlogits;      // [rows, n]
};

template <typename T>
CrossEntropyResult<T> cross_entropy(const Matrix<T>& logits, const std::vector<int>& labels, T inv_items,
                                    T smoothing) {
  using std::exp;
  using std::log;
  const Eigen::Index n = logits.cols();
  CrossEntropyResult<T> r;
  r.row_loss = ColVector<T>::Zero(logits.rows());
  r.dlogits = Matrix<T>::Zero(logits.rows(), n);
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    if (labels[i] < 0) continue;
    T max = logits(i, 0);
    for (Eigen::Index k = 1; k < n; ++k) {
      if (real_part(logits(i, k)) > real_part(max)) max = logits(i, k);
    }
    T sum = T(0);
    for (Eigen::Index k = 0; k < n; ++k) sum += exp(logits(i, k) - max);
    const T log_sum = log(sum);
    for (Eigen::Index k = 0; k < n; ++k) {
      const T log_softmax = logits(i, k) - max - log_sum;
      const T target = (k == labels[i] ? T(1) - smoothing : T(0)) + smoothing / T(static_cast<double>(n));
      if (target != T(0)) r.row_loss(i) -= target * log_softmax;  // 0 log 0 = 0
      r.dlogits(i, k) = inv_items * (exp(log_softmax) - target);
    }
    r.loss += r.row_loss(i);
  }
  r.loss *= inv_items;
  return r;
}

}  // namespace shoal::reference
