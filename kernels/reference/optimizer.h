// The norm of a gradient with its clip factor (torch.nn.utils.clip_grad_norm_), and one AdamW update of
// one element (Loshchilov and Hutter, arXiv 1711.05101, in torch.optim.AdamW's order).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/optimizer.h"

namespace shoal::reference {

template <typename T>
struct ClippedNorm {
  T norm = T(0);
  T coef = T(1);
};

template <typename T>
ClippedNorm<T> gradient_norm(const std::vector<T>& gradient, T max_norm) {
  T sum = T(0);
  for (const T g : gradient) sum += g * g;
  ClippedNorm<T> r;
  r.norm = std::sqrt(sum);
  r.coef = max_norm > T(0) ? std::min(T(1), max_norm / (r.norm + T(1e-6))) : T(1);
  return r;
}

template <typename T>
struct AdamWState {
  T p, m, v;
};

template <typename T>
AdamWState<T> adamw(AdamWState<T> s, T gradient, T coef, bool decays, const AdamWScalars& k) {
  if (decays) s.p *= T(k.decay);
  const T g = coef * gradient;
  s.m = T(k.beta1) * s.m + T(k.one_minus_beta1) * g;
  s.v = T(k.beta2) * s.v + T(k.one_minus_beta2) * g * g;
  s.p -= T(k.step_size) * s.m / (std::sqrt(s.v) / T(k.bias2_sqrt) + T(k.eps));
  return s;
}

}  // namespace shoal::reference
