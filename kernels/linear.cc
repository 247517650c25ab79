#include "kernels/linear.h"

#include "kernels/checks.h"

namespace shoal {

void check(const LinearForward& a) {
  const Need need("linear_forward");
  need.rows("rows", a.rows);
  need.multiple("N", a.N, 16);
  need.multiple("K", a.K, 16);
  need.aligned("y", a.y);
  need.aligned("x", a.x);
  need.param("w", a.w, std::int64_t{a.N} * a.K);
  if (a.b.base != nullptr) need.param("b", a.b, a.N);
  need.apart("y", a.y, bytes_of(a.dtype, a.rows.rows, a.N), "x", a.x, bytes_of(a.dtype, a.rows.rows, a.K));
}

Cost cost(const LinearForward& a) {
  const std::int64_t rows = a.rows.rows, e = static_cast<std::int64_t>(size_of(a.dtype));
  const std::int64_t weights = bytes_of(a.w, std::int64_t{a.N} * a.K, e, a.rows.W);
  return {.bytes_read = rows * a.K * e + weights + bytes_of(a.b, a.N, e, a.rows.W),
          .bytes_written = rows * a.N * e,
          .flops = 2 * rows * a.N * a.K,
          .product_flops = 2 * rows * a.N * a.K};
}

void check(const LinearBackwardInput& a) {
  const Need need("linear_backward_input");
  need.rows("rows", a.rows);
  need.multiple("N", a.N, 16);
  need.multiple("K", a.K, 16);
  need.aligned("dx", a.dx);
  need.aligned("dy", a.dy);
  need.param("w", a.w, std::int64_t{a.N} * a.K);
  need.apart("dx", a.dx, bytes_of(a.dtype, a.rows.rows, a.K), "dy", a.dy,
             bytes_of(a.dtype, a.rows.rows, a.N));
}

Cost cost(const LinearBackwardInput& a) {
  const std::int64_t rows = a.rows.rows, e = static_cast<std::int64_t>(size_of(a.dtype));
  const std::int64_t weights = bytes_of(a.w, std::int64_t{a.N} * a.K, e, a.rows.W);
  return {.bytes_read = rows * a.N * e + weights + (a.add ? rows * a.K * e : 0),
          .bytes_written = rows * a.K * e,
          .flops = 2 * rows * a.N * a.K,
          .product_flops = 2 * rows * a.N * a.K};
}

}  // namespace shoal
