#include "kernels/squared_error.h"

#include "kernels/checks.h"

namespace shoal {

void check(const SquaredError& a) {
  const Need need("squared_error");
  need.rows("rows", a.rows);
  need.between("ld", a.ld, 1, 1 << 24);
  need.pointer("loss", a.loss);
  need.pointer("row_loss", a.row_loss);
  need.aligned("logits", a.logits);
  need.pointer("targets", a.targets);
  need.pointer("inv_items", a.inv_items);
  if (a.dlogits == nullptr) return;
  need.aligned("dlogits", a.dlogits);
  need.same_or_apart("dlogits", a.dlogits, "logits", a.logits, bytes_of(DType::kF32, a.rows.rows, a.ld));
}

Cost cost(const SquaredError& a) {
  const std::int64_t rows = a.rows.rows;
  return {.bytes_read = rows * 8,  // a logit and a target
          .bytes_written = (a.dlogits == nullptr ? 0 : rows * a.ld * 4) + rows * 4 + a.rows.W * 4,
          .flops = 5 * rows};
}

}  // namespace shoal
