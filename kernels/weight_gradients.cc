#include "kernels/weight_gradients.h"

#include <fmt/format.h>

#include "kernels/checks.h"

namespace shoal {
namespace {

// Bytes that a gradient of `elements` moves: written, and read first where it is added to.
void add_gradient(Cost& cost, const Grad& g, std::int64_t elements, int W) {
  if (g.base == nullptr) return;
  cost.bytes_read += W * elements * 4;
  cost.bytes_written += W * elements * 4;
}

}  // namespace

void check(const LinearBackwardWeightGroup& a) {
  const Need need("linear_backward_weight_group");
  need.between("items", a.items, 0, LinearBackwardWeightGroup::kMaxItems);
  need.between("norms", a.norms, 0, LinearBackwardWeightGroup::kMaxNorms);
  need.between("items + norms", a.items + a.norms, 1,
               LinearBackwardWeightGroup::kMaxItems + LinearBackwardWeightGroup::kMaxNorms);
  for (int i = 0; i < a.items; ++i) {
    const WeightGradientItem& item = a.item[i];
    const auto name = [i](const char* field) { return fmt::format("item[{}].{}", i, field); };
    need.rows(name("rows"), item.rows);
    need.multiple(name("N"), item.N, 16);
    need.multiple(name("K"), item.K, 16);
    need.aligned(name("dy"), item.dy);
    if (item.dw.base != nullptr) need.aligned(name("x"), item.x);
    need.grad(name("dw"), item.dw, std::int64_t{item.N} * item.K);
    need.grad(name("db"), item.db, item.N);
  }
  for (int i = 0; i < a.norms; ++i) {
    const NormGradientItem& norm = a.norm[i];
    const auto name = [i](const char* field) { return fmt::format("norm[{}].{}", i, field); };
    need.rows(name("rows"), norm.rows);
    need.multiple(name("C"), norm.C, 16);
    need.aligned(name("partial"), norm.partial);
    need.grad(name("dgamma"), norm.dgamma, norm.C);
    need.grad(name("dbeta"), norm.dbeta, norm.C);
    need.grad(name("dbias"), norm.dbias, norm.C);
  }
}

Cost cost(const LinearBackwardWeightGroup& a) {
  Cost total;
  for (int i = 0; i < a.items; ++i) {
    const WeightGradientItem& item = a.item[i];
    const std::int64_t rows = item.rows.rows, e = static_cast<std::int64_t>(size_of(a.dtype));
    total.bytes_read += rows * item.N * e;
    if (item.dw.base != nullptr) {
      total.bytes_read += rows * item.K * e;
      total.flops += 2 * rows * item.N * item.K;
      total.product_flops += 2 * rows * item.N * item.K;
    }
    if (item.db.base != nullptr) total.flops += rows * item.N;
    add_gradient(total, item.dw, std::int64_t{item.N} * item.K, item.rows.W);
    add_gradient(total, item.db, item.N, item.rows.W);
  }
  for (int i = 0; i < a.norms; ++i) {
    const NormGradientItem& norm = a.norm[i];
    const std::int64_t blocks = norm.rows.rows / kRowChunk;
    for (const Grad* g : {&norm.dgamma, &norm.dbeta, &norm.dbias}) {
      if (g->base == nullptr) continue;
      total.bytes_read += blocks * norm.C * 4;
      total.flops += blocks * norm.C;
      add_gradient(total, *g, norm.C, norm.rows.W);
    }
  }
  return total;
}

}  // namespace shoal
