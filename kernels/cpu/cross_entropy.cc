// The CPU form of cross_entropy.h. A row has few labels, so a row is plain scalar work in double; rows
// are shared among threads, and each entry's loss is summed from the stored row losses afterwards.
#include "kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/row_losses.h"

namespace shoal::cpu {
namespace {

constexpr int kBlock = 16;  // rows a thread takes at once

struct Softmax {
  float max = -std::numeric_limits<float>::infinity();
  double sum = 0;        // of exp(x - max)
  double deviation = 0;  // of x - max
};

// A NaN never wins the maximum, and reaches both sums.
Softmax softmax(const float* x, int n) {
  Softmax s;
  for (int k = 0; k < n; ++k) s.max = x[k] > s.max ? x[k] : s.max;
  for (int k = 0; k < n; ++k) {
    const double d = static_cast<double>(x[k]) - s.max;
    s.sum += std::exp(d);
    s.deviation += d;
  }
  return s;
}

// -sum t log softmax, with log softmax(k) = x(k) - max - log sum. Without smoothing the other labels
// take no part: a logit of -infinity there must not become 0 * infinity.
double row_loss(const Softmax& s, float own, double smoothing, int n) {
  const double log_sum = std::log(s.sum);
  const double plain = log_sum - (static_cast<double>(own) - s.max);
  if (smoothing == 0) return plain;
  return (1 - smoothing) * plain + smoothing * (log_sum - s.deviation / n);
}

void row(const CrossEntropy& a, int w, std::int64_t at) {
  const int n = a.n[w], label = a.labels[at];
  const float* x = a.logits + at * a.ld;
  float* dx = a.dlogits != nullptr ? a.dlogits + at * a.ld : nullptr;
  if (label < 0) {
    a.row_loss[at] = 0;
    if (dx != nullptr) std::fill(dx, dx + a.ld, 0.0f);
    return;
  }
  const Softmax s = softmax(x, n);
  const double smoothing = a.smoothing[w], inv_items = a.inv_items[w];
  a.row_loss[at] = static_cast<float>(row_loss(s, x[label], smoothing, n));
  if (dx == nullptr) return;
  for (int k = 0; k < n; ++k) {
    const double p = std::exp(static_cast<double>(x[k]) - s.max) / s.sum;
    const double target = (k == label ? 1 - smoothing : 0) + smoothing / n;
    dx[k] = static_cast<float>(inv_items * (p - target));
  }
  std::fill(dx + n, dx + a.ld, 0.0f);
}

}  // namespace

void cross_entropy(const CrossEntropy& a, Stream stream) {
  check(a);
  row_losses(a, context(stream), kBlock, row);
}

}  // namespace shoal::cpu
