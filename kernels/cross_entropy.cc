#include "kernels/cross_entropy.h"

#include "kernels/checks.h"

namespace shoal {

void check(const CrossEntropy& a) {
  const Need need("cross_entropy");
  need.loss(a);
  need.pointer("labels", a.labels);
  need.pointer("smoothing", a.smoothing);
  need.pointer("n", a.n);
}

Cost cost(const CrossEntropy& a) {
  const std::int64_t logits = a.rows.rows * a.ld;
  return {.bytes_read = logits * 4 + a.rows.rows * 4,
          .bytes_written = (a.dlogits == nullptr ? 0 : logits * 4) + a.rows.rows * 4 + a.rows.W * 4,
          .flops = 6 * logits};
}

}  // namespace shoal
