#include "kernels/bias_dropout_residual_layernorm.h"

#include "kernels/checks.h"

namespace shoal {
namespace {

void check_width(const Need& need, int C) {
  need.multiple("C", C, 16);
  need.between("C", C, 16, 4096);
}

}  // namespace

void check(const BiasDropoutResidualLayerNormForward& a) {
  const Need need("bias_dropout_residual_layernorm_forward");
  need.rows("rows", a.rows);
  check_width(need, a.C);
  need.aligned("y", a.y);
  need.aligned("x", a.x);
  need.aligned("residual", a.residual);
  need.param("b", a.b, a.C);
  need.param("gamma", a.gamma, a.C);
  need.param("beta", a.beta, a.C);
  need.not_negative("eps", a.eps);
  need.drop(a.drop);
  const std::size_t bytes = bytes_of(a.dtype, a.rows.rows, a.C);
  need.same_or_apart("y", a.y, "x", a.x, bytes);
  need.apart("y", a.y, bytes, "residual", a.residual, bytes);
  if (a.z == nullptr) return;
  need.aligned("z", a.z);
  need.stats(a.stats);
  need.apart("z", a.z, bytes, "y", a.y, bytes);
  need.apart("z", a.z, bytes, "x", a.x, bytes);
  need.apart("z", a.z, bytes, "residual", a.residual, bytes);
}

Cost cost(const BiasDropoutResidualLayerNormForward& a) {
  const std::int64_t rows = a.rows.rows, e = static_cast<std::int64_t>(size_of(a.dtype));
  return {.bytes_read = 2 * rows * a.C * e + bytes_of(a.b, a.C, e, a.rows.W) +
                        bytes_of(a.gamma, a.C, 4, a.rows.W) + bytes_of(a.beta, a.C, 4, a.rows.W),
          .bytes_written = rows * a.C * e * (a.z == nullptr ? 1 : 2) + (a.z == nullptr ? 0 : rows * 8),
          .flops = 11 * rows * a.C};
}

void check(const BiasDropoutResidualLayerNormBackward& a) {
  const Need need("bias_dropout_residual_layernorm_backward");
  need.rows("rows", a.rows);
  check_width(need, a.C);
  need.aligned("dz", a.dz);
  need.aligned("dx", a.dx);
  need.aligned("partial", a.partial);
  need.aligned("dy", a.dy);
  need.aligned("z", a.z);
  need.stats(a.stats);
  need.param("gamma", a.gamma, a.C);
  need.drop(a.drop);
  const std::size_t bytes = bytes_of(a.dtype, a.rows.rows, a.C);
  need.same_or_apart("dz", a.dz, "dy", a.dy, bytes);
  need.apart("dz", a.dz, bytes, "z", a.z, bytes);
  need.apart("dx", a.dx, bytes, "dz", a.dz, bytes);
  need.apart("dx", a.dx, bytes, "dy", a.dy, bytes);
  need.apart("dx", a.dx, bytes, "z", a.z, bytes);
}

Cost cost(const BiasDropoutResidualLayerNormBackward& a) {
  const std::int64_t rows = a.rows.rows, e = static_cast<std::int64_t>(size_of(a.dtype));
  return {.bytes_read = 2 * rows * a.C * e + rows * 8 + bytes_of(a.gamma, a.C, 4, a.rows.W),
          .bytes_written = 2 * rows * a.C * e + rows / kRowChunk * 3 * a.C * 4,
          .flops = 17 * rows * a.C};
}

}  // namespace shoal
