// Linear layers, y = x w^T + b with w [N,K], and what is fused to them: GELU, tanh. The classifier is
// a linear layer whose N is the slot's number of labels.
#pragma once

#include <cmath>
#include <utility>

#include "kernels/reference/gelu.h"
#include "kernels/reference/matrix.h"

namespace shoal::reference {

template <typename T, typename Round = Exact>
Matrix<T> linear_forward(const Matrix<T>& x, const Matrix<T>& w, const RowVector<T>& b, Round round = {}) {
  Matrix<T> y = x * w.transpose();
  y.rowwise() += b;
  return round(std::move(y));
}

template <typename T, typename Round = Exact>
Matrix<T> linear_backward_input(const Matrix<T>& dy, const Matrix<T>& w, Round round = {}) {
  return round(Matrix<T>(dy * w));
}

template <typename T>
Matrix<T> linear_backward_weight(const Matrix<T>& dy, const Matrix<T>& x) {
  return dy.transpose() * x;
}

template <typename T>
RowVector<T> linear_backward_bias(const Matrix<T>& dy) {
  return dy.colwise().sum();
}

template <typename T>
struct LinearGeluResult {
  Matrix<T> u;
  Matrix<T> g;
};

template <typename T, typename Round = Exact>
LinearGeluResult<T> linear_gelu_forward(const Matrix<T>& x, const Matrix<T>& w, const RowVector<T>& b,
                                        Round round = {}, GeluForm form = GeluForm::kErf) {
  LinearGeluResult<T> r;
  r.u = linear_forward<T>(x, w, b, round);
  r.g = round(Matrix<T>(r.u.unaryExpr([form](T u) { return gelu(u, form); })));
  return r;
}

template <typename T, typename Round = Exact>
Matrix<T> linear_dgelu_backward(const Matrix<T>& dy, const Matrix<T>& w, const Matrix<T>& u, Round round = {},
                                GeluForm form = GeluForm::kErf) {
  const Matrix<T> dg = dy * w;
  return round(Matrix<T>(dg.cwiseProduct(u.unaryExpr([form](T v) { return gelu_derivative(v, form); }))));
}

template <typename T, typename Round = Exact>
Matrix<T> linear_tanh_forward(const Matrix<T>& x, const Matrix<T>& w, const RowVector<T>& b,
                              Round round = {}) {
  const Matrix<T> u = linear_forward<T>(x, w, b);
  return round(Matrix<T>(u.unaryExpr([](T v) {
    using std::tanh;
    return tanh(v);
  })));
}

template <typename T, typename Round = Exact>
Matrix<T> tanh_backward(const Matrix<T>& dy, const Matrix<T>& y, Round round = {}) {
  return round(Matrix<T>(dy.cwiseProduct(y.unaryExpr([](T v) { return T(1) - v * v; }))));
}

}  // namespace shoal::reference
