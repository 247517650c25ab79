#include "kernels/classifier.h"

#include "kernels/checks.h"

namespace shoal {

void check(const ClassifierForward& a) {
  const Need need("classifier_forward");
  need.rows("rows", a.rows);
  need.multiple("C", a.C, 16);
  need.between("ld", a.ld, 1, 1 << 24);
  need.aligned("logits", a.logits);
  need.aligned("x", a.x);
  need.param("w", a.w, a.C);
  need.param("b", a.b, 1);
  need.pointer("n", a.n);
  need.apart("logits", a.logits, bytes_of(DType::kF32, a.rows.rows, a.ld), "x", a.x,
             bytes_of(a.dtype, a.rows.rows, a.C));
}

Cost cost(const ClassifierForward& a) {
  const std::int64_t rows = a.rows.rows, e = static_cast<std::int64_t>(size_of(a.dtype));
  return {.bytes_read = rows * a.C * e + bytes_of(a.w, std::int64_t{a.ld} * a.C, e, a.rows.W) +
                        bytes_of(a.b, a.ld, e, a.rows.W),
          .bytes_written = rows * a.ld * 4,
          .flops = 2 * rows * a.ld * a.C};
}

void check(const ClassifierBackward& a) {
  const Need need("classifier_backward");
  need.rows("rows", a.rows);
  need.multiple("C", a.C, 16);
  need.between("ld", a.ld, 1, 1 << 24);
  need.aligned("dx", a.dx);
  need.aligned("dlogits", a.dlogits);
  need.aligned("x", a.x);
  need.param("w", a.w, a.C);
  need.grad("dw", a.dw, a.C);
  need.grad("db", a.db, 1);
  need.pointer("n", a.n);
  const std::size_t bytes = bytes_of(a.dtype, a.rows.rows, a.C);
  need.apart("dx", a.dx, bytes, "dlogits", a.dlogits, bytes_of(DType::kF32, a.rows.rows, a.ld));
  need.apart("dx", a.dx, bytes, "x", a.x, bytes);
}

Cost cost(const ClassifierBackward& a) {
  const std::int64_t rows = a.rows.rows, e = static_cast<std::int64_t>(size_of(a.dtype)), W = a.rows.W;
  const std::int64_t weights = std::int64_t{a.ld} * a.C;
  const std::int64_t gradients = (a.dw.base != nullptr ? weights : 0) + (a.db.base != nullptr ? a.ld : 0);
  return {.bytes_read = rows * (a.C * e + a.ld * 4) + bytes_of(a.w, weights, e, a.rows.W) + W * gradients * 4,
          .bytes_written = rows * a.C * e + W * gradients * 4,
          .flops = (a.dw.base != nullptr ? 4 : 2) * rows * weights};
}

}  // namespace shoal
