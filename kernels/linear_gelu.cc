#include "kernels/linear_gelu.h"

#include "kernels/checks.h"

namespace shoal {
namespace {
constexpr std::int64_t kGeluFlops = 10;  // an erf or an exp and a handful around it, by convention

void check_form(const Need& need, GeluForm form) {
  need.one_of("form", static_cast<int>(form),
              {static_cast<int>(GeluForm::kErf), static_cast<int>(GeluForm::kTanh)});
}
}  // namespace

void check(const LinearGeluForward& a) {
  const Need need("linear_gelu_forward");
  need.rows("rows", a.rows);
  check_form(need, a.form);
  need.multiple("N", a.N, 16);
  need.multiple("K", a.K, 16);
  if (a.u != nullptr) need.aligned("u", a.u);
  need.aligned("g", a.g);
  need.aligned("x", a.x);
  need.param("w", a.w, std::int64_t{a.N} * a.K);
  need.param("b", a.b, a.N);
  const std::size_t out = bytes_of(a.dtype, a.rows.rows, a.N), in = bytes_of(a.dtype, a.rows.rows, a.K);
  need.apart("g", a.g, out, "x", a.x, in);
  if (a.u == nullptr) return;
  need.apart("u", a.u, out, "x", a.x, in);
  need.apart("u", a.u, out, "g", a.g, out);
}

Cost cost(const LinearGeluForward& a) {
  const std::int64_t rows = a.rows.rows, e = static_cast<std::int64_t>(size_of(a.dtype));
  const std::int64_t weights = bytes_of(a.w, std::int64_t{a.N} * a.K, e, a.rows.W);
  return {.bytes_read = rows * a.K * e + weights + bytes_of(a.b, a.N, e, a.rows.W),
          .bytes_written = rows * a.N * e * (a.u == nullptr ? 1 : 2),
          .flops = 2 * rows * a.N * a.K + kGeluFlops * rows * a.N,
          .product_flops = 2 * rows * a.N * a.K};
}

void check(const LinearDgeluBackward& a) {
  const Need need("linear_dgelu_backward");
  need.rows("rows", a.rows);
  check_form(need, a.form);
  need.multiple("N", a.N, 16);
  need.multiple("K", a.K, 16);
  need.aligned("du", a.du);
  need.aligned("dy", a.dy);
  need.aligned("u", a.u);
  need.param("w", a.w, std::int64_t{a.N} * a.K);
  const std::size_t out = bytes_of(a.dtype, a.rows.rows, a.K);
  need.apart("du", a.du, out, "dy", a.dy, bytes_of(a.dtype, a.rows.rows, a.N));
  need.same_or_apart("du", a.du, "u", a.u, out);
}

Cost cost(const LinearDgeluBackward& a) {
  const std::int64_t rows = a.rows.rows, e = static_cast<std::int64_t>(size_of(a.dtype));
  const std::int64_t weights = bytes_of(a.w, std::int64_t{a.N} * a.K, e, a.rows.W);
  return {.bytes_read = rows * (a.N + a.K) * e + weights,
          .bytes_written = rows * a.K * e,
          .flops = 2 * rows * a.N * a.K + kGeluFlops * rows * a.K,
          .product_flops = 2 * rows * a.N * a.K};
}

}  // namespace shoal
