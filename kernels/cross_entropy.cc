#include "kernels/cross_entropy.h"

#include "kernels/checks.h"

namespace shoal {

void check(const CrossEntropy& a) {
  const Need need("cross_entropy");
  need.rows("rows", a.rows);
  need.between("ld", a.ld, 1, 1 << 24);
  need.pointer("loss", a.loss);
  need.pointer("row_loss", a.row_loss);
  need.aligned("logits", a.logits);
  need.pointer("labels", a.labels);
  need.pointer("inv_items", a.inv_items);
  need.pointer("smoothing", a.smoothing);
  need.pointer("n", a.n);
  if (a.dlogits == nullptr) return;
  need.aligned("dlogits", a.dlogits);
  need.same_or_apart("dlogits", a.dlogits, "logits", a.logits, bytes_of(DType::kF32, a.rows.rows, a.ld));
}

Cost cost(const CrossEntropy& a) {
  const std::int64_t logits = a.rows.rows * a.ld;
  return {.bytes_read = logits * 4 + a.rows.rows * 4,
          .bytes_written = (a.dlogits == nullptr ? 0 : logits * 4) + a.rows.rows * 4 + a.rows.W * 4,
          .flops = 6 * logits};
}

}  // namespace shoal
