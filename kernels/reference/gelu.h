// GELU in the erf form, gelu(u) = u Phi(u), gelu'(u) = Phi(u) + u phi(u), and in the tanh form that stands
// for it in some checkpoints (Hendrycks and Gimpel, arXiv 1606.08415).
#pragma once

#include <cmath>
#include <complex>

#include "kernels/linear_gelu.h"

namespace shoal::reference {

template <typename T>
T error_function(T x) {
  return std::erf(x);
}
// To first order in the imaginary part: all that a complex step asks for.
inline std::complex<double> error_function(std::complex<double> x) {
  const double two_over_root_pi = 1.12837916709551257390;
  return {std::erf(x.real()), x.imag() * two_over_root_pi * std::exp(-x.real() * x.real())};
}

template <typename T>
T normal_cdf(T u) {
  return T(0.5) * (T(1) + error_function(u * T(0.70710678118654752440)));
}

template <typename T>
T normal_density(T u) {
  using std::exp;
  return T(0.39894228040143267794) * exp(T(-0.5) * u * u);
}

// (1 + tanh(inner(u))) / 2 takes the place of Phi(u).
template <typename T>
T tanh_of_inner(T u) {
  using std::tanh;
  return tanh(T(0.79788456080286535588) * (u + T(0.044715) * u * u * u));
}

template <typename T>
T gelu(T u, GeluForm form = GeluForm::kErf) {
  if (form == GeluForm::kErf) return u * normal_cdf(u);
  return T(0.5) * u * (T(1) + tanh_of_inner(u));
}

template <typename T>
T gelu_derivative(T u, GeluForm form = GeluForm::kErf) {
  if (form == GeluForm::kErf) return normal_cdf(u) + u * normal_density(u);
  const T t = tanh_of_inner(u);
  const T slope = T(0.79788456080286535588) * (T(1) + T(3 * 0.044715) * u * u);
  return T(0.5) * (T(1) + t) + T(0.5) * u * (T(1) - t * t) * slope;
}

}  // namespace shoal::reference
