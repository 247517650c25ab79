#include "kernels/optimizer.h"

#include "kernels/checks.h"

namespace shoal {
namespace {

void check_table(const Need& need, const ParamTable& table) {
  need.between("table.tensors", table.tensors, 1, 1 << 24);
  need.between("table.chunks", table.chunks, table.tensors, INT32_MAX);
  need.pointer("table.span", table.span);
  need.pointer("table.chunk", table.chunk);
  need.pointer("table.own", table.own);
}

}  // namespace

void check(const GradientNorm& a) {
  const Need need("gradient_norm");
  need.slots(a.W, a.slot);
  need.pointer("norm", a.norm);
  need.pointer("coef", a.coef);
  need.pointer("nonfinite", a.nonfinite);
  need.pointer("partial", a.partial);
  need.aligned("grad", a.grad);
  need.stride("stride", a.stride, 1);
  check_table(need, a.table);
  need.pointer("update", a.update);
  need.pointer("max_norm", a.max_norm);
}

Cost cost(const GradientNorm& a) {
  return {.bytes_read = a.W * a.stride * 4 + std::int64_t{a.W} * a.table.chunks * 4,
          .bytes_written = std::int64_t{a.W} * a.table.chunks * 4 + a.W * 12,
          .flops = 2 * a.W * a.stride};
}

void check(const AdamW& a) {
  const Need need("adamw");
  need.slots(a.W, a.slot);
  need.aligned("p", a.p);
  if (a.p16 != nullptr) need.aligned("p16", a.p16);
  need.aligned("m", a.m);
  need.aligned("v", a.v);
  need.aligned("grad", a.grad);
  need.stride("row_stride", a.row_stride, 1);
  need.stride("train_stride", a.train_stride, 1);
  check_table(need, a.table);
  need.pointer("update", a.update);
  need.pointer("coef", a.coef);
  need.pointer("nonfinite", a.nonfinite);
  need.pointer("scalars", a.scalars);
}

Cost cost(const AdamW& a) {
  const std::int64_t elements = a.W * a.train_stride;
  return {.bytes_read = elements * 16,
          .bytes_written = elements * (a.p16 == nullptr ? 12 : 14),
          .flops = 14 * elements};
}

}  // namespace shoal
