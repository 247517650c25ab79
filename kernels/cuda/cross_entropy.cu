// cross_entropy: a warp a row, its labels spread over the lanes.
#include "kernels/cross_entropy.h"
#include "kernels/cuda/parts/loss.h"

namespace shoal::SHOAL_TARGET {
namespace {

// Without smoothing the other labels take no part in the loss: a logit of -infinity there must not become
// 0 * infinity. A NaN never wins the maximum, and reaches the sum.
struct CrossEntropyRow {
  __device__ float operator()(const CrossEntropy& a, int w, std::int64_t at, int lane) const {
    const int n = a.n[w], label = a.labels[at];
    const float* const x = a.logits + at * a.ld;
    float* const dx = a.dlogits == nullptr ? nullptr : a.dlogits + at * a.ld;
    SHOAL_DEVICE_CHECK(label < n && n <= a.ld);
    if (label < 0) {
      for (int k = lane; dx != nullptr && k < a.ld; k += kWarp) dx[k] = 0;
      return 0;
    }
    float largest = __uint_as_float(0xff800000u);  // -infinity
    for (int k = lane; k < n; k += kWarp) largest = fmaxf(largest, x[k]);
    largest = warp_max(largest);
    float sum = 0, deviation = 0, own = 0;
    for (int k = lane; k < n; k += kWarp) {
      const float d = x[k] - largest;
      sum += expf(d);
      deviation += d;
      if (k == label) own = d;
    }
    sum = warp_sum(sum);
    deviation = warp_sum(deviation);
    own = __shfl_sync(kFullWarp, own, label % kWarp);
    const float log_sum = logf(sum), smoothing = a.smoothing[w], even = smoothing / static_cast<float>(n);
    for (int k = lane; dx != nullptr && k < a.ld; k += kWarp) {
      const float target = (k == label ? 1.0f - smoothing : 0.0f) + even;
      dx[k] = k < n ? a.inv_items[w] * (expf(x[k] - largest) / sum - target) : 0.0f;
    }
    const float plain = log_sum - own;
    if (smoothing == 0) return plain;
    return (1.0f - smoothing) * plain + smoothing * (log_sum - deviation / static_cast<float>(n));
  }
};

__global__ void __launch_bounds__(kLossThreads, 4) cross_entropy_kernel_rows(CrossEntropy a) {
  row_losses(a, CrossEntropyRow{});
}
__global__ void __launch_bounds__(kWarp) cross_entropy_kernel_entries(CrossEntropy a) {
  entry_loss(a);
}

}  // namespace

void cross_entropy(const CrossEntropy& a, Stream stream) {
  check(a);
  launch<cross_entropy_kernel_rows>({.name = "cross_entropy",
                                     .grid = dim3(static_cast<unsigned>(a.rows.rows / kLossRows)),
                                     .block = dim3(kLossThreads),
                                     .stream = stream},
                                    a);
  launch<cross_entropy_kernel_entries>({.name = "cross_entropy",
                                        .grid = dim3(static_cast<unsigned>(a.rows.W)),
                                        .block = dim3(kWarp),
                                        .stream = stream},
                                       a);
}

}  // namespace shoal::SHOAL_TARGET
