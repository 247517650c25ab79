// The CPU form of squared_error.h: a row is scalar work in double; each entry's loss is summed from the
// stored row losses afterwards.
#include "kernels/squared_error.h"

#include <algorithm>

#include "kernels/cpu/row_losses.h"

namespace shoal::cpu {
namespace {

constexpr int kBlock = 128;  // rows a thread takes at once

void row(const SquaredError& a, int w, std::int64_t at) {
  const double error = static_cast<double>(a.logits[at * a.ld]) - a.targets[at];
  a.row_loss[at] = static_cast<float>(error * error);
  if (a.dlogits == nullptr) return;
  float* const dx = a.dlogits + at * a.ld;
  dx[0] = static_cast<float>(2 * a.inv_items[w] * error);
  std::fill(dx + 1, dx + a.ld, 0.0f);
}

}  // namespace

void squared_error(const SquaredError& a, Stream stream) {
  check(a);
  row_losses(a, context(stream), kBlock, row);
}

}  // namespace shoal::cpu
