// What the reference is written in: row-major Eigen matrices of any scalar, of ONE slot's live rows.
//
// Scalars: double is the truth, float the plain form whose error an op may at most double,
// std::complex<double> gives gradients by a complex step (kernels/reference knows no lanes, slots or
// devices). For that last one, sums of x * x stand where squaredNorm would conjugate, transpose where
// adjoint would, and maxima look at the real part.
//
// A function takes `round` wherever its contract's "Rounds" line says so: Exact leaves the value as
// it is, RoundTo stores it in a dtype and takes it back.
#pragma once

#include <Eigen/Core>
#include <complex>

#include "kernels/base/dtype.h"

namespace shoal::reference {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using RowVector = Eigen::Matrix<T, 1, Eigen::Dynamic>;
template <typename T>
using ColVector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

inline double real_part(double x) {
  return x;
}
inline float real_part(float x) {
  return x;
}
inline double real_part(std::complex<double> x) {
  return x.real();
}

struct Exact {
  template <typename M>
  M operator()(M m) const {
    return m;
  }
};

struct RoundTo {
  DType dtype = DType::kF32;

  template <typename M>
  M operator()(M m) const {
    if (dtype == DType::kBF16) {
      m = m.unaryExpr([](float value) { return static_cast<float>(bf16(value)); });
    }
    return m;
  }
};

}  // namespace shoal::reference
