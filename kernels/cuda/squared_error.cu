// squared_error: the loss of a regression, by the frame of parts/loss.h.
#include "kernels/cuda/parts/loss.h"
#include "kernels/squared_error.h"

namespace shoal::SHOAL_TARGET {
namespace {

struct SquaredErrorRow {
  __device__ float operator()(const SquaredError& a, int w, std::int64_t at, int lane) const {
    const float error = a.logits[at * a.ld] - a.targets[at];
    __syncwarp();  // dlogits may be logits: all have read before one writes
    for (int k = lane; a.dlogits != nullptr && k < a.ld; k += kWarp) {
      a.dlogits[at * a.ld + k] = k == 0 ? 2.0f * a.inv_items[w] * error : 0.0f;
    }
    return error * error;
  }
};

__global__ void __launch_bounds__(kLossThreads) squared_error_kernel_rows(SquaredError a) {
  row_losses(a, SquaredErrorRow{});
}
__global__ void __launch_bounds__(kWarp) squared_error_kernel_entries(SquaredError a) {
  entry_loss(a);
}

}  // namespace

void squared_error(const SquaredError& a, Stream stream) {
  check(a);
  launch<squared_error_kernel_rows>({.name = "squared_error",
                                     .grid = dim3(static_cast<unsigned>(a.rows.rows / kLossRows)),
                                     .block = dim3(kLossThreads),
                                     .stream = stream},
                                    a);
  launch<squared_error_kernel_entries>({.name = "squared_error",
                                        .grid = dim3(static_cast<unsigned>(a.rows.W)),
                                        .block = dim3(kWarp),
                                        .stream = stream},
                                       a);
}

}  // namespace shoal::SHOAL_TARGET
