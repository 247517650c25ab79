#include "kernels/squared_error.h"

#include "kernels/checks.h"

namespace shoal {

void check(const SquaredError& a) {
  const Need need("squared_error");
  need.loss(a);
  need.pointer("targets", a.targets);
}

Cost cost(const SquaredError& a) {
  const std::int64_t rows = a.rows.rows;
  return {.bytes_read = rows * 8,  // a logit and a target
          .bytes_written = (a.dlogits == nullptr ? 0 : rows * a.ld * 4) + rows * 4 + a.rows.W * 4,
          .flops = 5 * rows};
}

}  // namespace shoal
