// gelu and its derivative in f32, by kernels/linear_gelu.h. Erf form: the lower tail Phi(-a) = exp(-a^2 / 2)
// r(a), r a polynomial in 1 / (1 + p a), fitted by scripts/fit_normal_tail.py to 4e-6 of itself for all a >=
// 0: one exponential and one division, and far out in the tail still as good. Tanh form: by one exponential
// too.
#pragma once

#include <ptx/cuda.h>

#include "kernels/linear_gelu.h"

namespace shoal::SHOAL_TARGET {

struct NormalTail {
  float density;  // exp(-a^2 / 2)
  float below;    // Phi(-a)
};

__device__ __forceinline__ NormalTail normal_tail(float a) {
  const float t = __fdividef(1.0f, fmaf(0.308f, a, 1.0f));
  float r = -0.07542998343706131f;
  r = fmaf(r, t, 0.18961799144744873f);
  r = fmaf(r, t, 0.007272943388670683f);
  r = fmaf(r, t, 0.13653358817100525f);
  r = fmaf(r, t, 0.1188812181353569f);
  r = fmaf(r, t, 0.1231226995587349f);
  const float density = exp2f(a * a * -0.72134752f);
  return {density, density * r * t};
}

__device__ __forceinline__ float erf_gelu(float u) {
  const NormalTail tail = normal_tail(fabsf(u));
  return u * (u < 0 ? tail.below : 1.0f - tail.below);
}
__device__ __forceinline__ float erf_gelu_derivative(float u) {
  const NormalTail tail = normal_tail(fabsf(u));
  const float phi = 0.39894228f * tail.density;
  return fmaf(u, phi, u < 0 ? tail.below : 1.0f - tail.below);
}

// (1 + tanh(x)) / 2 of x = sqrt(2 / pi) (u + 0.044715 u^3).
__device__ __forceinline__ float tanh_share(float u) {
  const float x = 0.79788456f * u * fmaf(0.044715f * u, u, 1.0f);
  return __fdividef(1.0f, 1.0f + exp2f(x * -2.88539008f));
}
__device__ __forceinline__ float tanh_gelu(float u) {
  return u * tanh_share(u);
}
__device__ __forceinline__ float tanh_gelu_derivative(float u) {
  const float s = tanh_share(u);
  const float slope = 1.59576912f * fmaf(0.134145f * u, u, 1.0f);
  return fmaf(u * s * (1.0f - s), slope, s);
}

template <GeluForm kForm>
__device__ __forceinline__ float gelu(float u) {
  return kForm == GeluForm::kErf ? erf_gelu(u) : tanh_gelu(u);
}
template <GeluForm kForm>
__device__ __forceinline__ float gelu_derivative(float u) {
  return kForm == GeluForm::kErf ? erf_gelu_derivative(u) : tanh_gelu_derivative(u);
}

}  // namespace shoal::SHOAL_TARGET
