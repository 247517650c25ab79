// GELU in the erf form: gelu(u) = u Phi(u), gelu'(u) = Phi(u) + u phi(u) (Hendrycks and Gimpel, arXiv
// 1606.08415).
#pragma once

#include <cmath>
#include <complex>

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

template <typename T>
T gelu(T u) {
  return u * normal_cdf(u);
}

template <typename T>
T gelu_derivative(T u) {
  return normal_cdf(u) + u * normal_density(u);
}

}  // namespace shoal::reference
