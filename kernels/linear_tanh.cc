#include "kernels/linear_tanh.h"

#include "kernels/checks.h"

namespace shoal {

void check(const LinearTanhForward& a) {
  const Need need("linear_tanh_forward");
  need.rows("rows", a.rows);
  need.multiple("N", a.N, 16);
  need.multiple("K", a.K, 16);
  need.aligned("y", a.y);
  need.aligned("x", a.x);
  need.param("w", a.w, std::int64_t{a.N} * a.K);
  need.param("b", a.b, a.N);
  need.apart("y", a.y, bytes_of(a.dtype, a.rows.rows, a.N), "x", a.x, bytes_of(a.dtype, a.rows.rows, a.K));
}

Cost cost(const LinearTanhForward& a) {
  const std::int64_t rows = a.rows.rows, e = static_cast<std::int64_t>(size_of(a.dtype));
  const std::int64_t weights = bytes_of(a.w, std::int64_t{a.N} * a.K, e, a.rows.W);
  return {.bytes_read = rows * a.K * e + weights + bytes_of(a.b, a.N, e, a.rows.W),
          .bytes_written = rows * a.N * e,
          .flops = 2 * rows * a.N * a.K + rows * a.N,
          .product_flops = 2 * rows * a.N * a.K};
}

void check(const TanhBackward& a) {
  const Need need("tanh_backward");
  need.rows("rows", a.rows);
  need.multiple("N", a.N, 16);
  need.aligned("du", a.du);
  need.aligned("dy", a.dy);
  need.aligned("y", a.y);
  const std::size_t bytes = bytes_of(a.dtype, a.rows.rows, a.N);
  need.same_or_apart("du", a.du, "dy", a.dy, bytes);
  need.apart("du", a.du, bytes, "y", a.y, bytes);
}

Cost cost(const TanhBackward& a) {
  const std::int64_t bytes = static_cast<std::int64_t>(bytes_of(a.dtype, a.rows.rows, a.N));
  return {.bytes_read = 2 * bytes, .bytes_written = bytes, .flops = 3 * a.rows.rows * a.N};
}

}  // namespace shoal
