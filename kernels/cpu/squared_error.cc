// The CPU form of squared_error.h: a row is scalar work in double; each entry's loss is summed from the
// stored row losses afterwards.
#include "kernels/squared_error.h"

#include <algorithm>

#include "kernels/cpu/context.h"
#include "kernels/cpu/row_blocks.h"
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
  for_row_blocks(context(stream), a.rows, kBlock, [&](const RowBlock& block) {
    for (std::int64_t r = block.first; r < block.last; ++r) row(a, block.w, block.row0 + r);
    if (a.dlogits != nullptr) zero_rows(a.dlogits + block.row0 * a.ld, block.last, block.tail, a.ld);
  });
  for (int w = 0; w < a.rows.W; ++w) a.loss[w] = loss_of(a.row_loss, a.rows, w, a.inv_items[w]);
}

}  // namespace shoal::cpu
