#include "kernels/row_ops.h"

#include "kernels/checks.h"

namespace shoal {
namespace {

void check_lanes(const Need& need, const Rows& to, const Rows& from, int C, const std::int32_t* index) {
  need.rows("to", to);
  need.rows("from", from);
  need.between("to.W", to.W, from.W, from.W);
  need.multiple("C", C, 16);
  need.pointer("index", index);
}

}  // namespace

void check(const GatherRows& a) {
  const Need need("gather_rows");
  check_lanes(need, a.to, a.from, a.C, a.index);
  need.aligned("y", a.y);
  need.aligned("x", a.x);
  need.apart("y", a.y, bytes_of(a.dtype, a.to.rows, a.C), "x", a.x, bytes_of(a.dtype, a.from.rows, a.C));
}

Cost cost(const GatherRows& a) {
  const std::int64_t bytes = static_cast<std::int64_t>(bytes_of(a.dtype, a.to.rows, a.C));
  return {.bytes_read = bytes + a.to.rows * 4, .bytes_written = bytes, .flops = 0};
}

void check(const ScatterRows& a) {
  const Need need("scatter_rows");
  check_lanes(need, a.to, a.from, a.C, a.index);
  need.aligned("dx", a.dx);
  need.aligned("dy", a.dy);
  need.apart("dx", a.dx, bytes_of(a.dtype, a.from.rows, a.C), "dy", a.dy, bytes_of(a.dtype, a.to.rows, a.C));
}

Cost cost(const ScatterRows& a) {
  const std::int64_t small = static_cast<std::int64_t>(bytes_of(a.dtype, a.to.rows, a.C));
  const std::int64_t large = static_cast<std::int64_t>(bytes_of(a.dtype, a.from.rows, a.C));
  return {.bytes_read = (a.add ? 2 : 1) * small + a.to.rows * 4,
          .bytes_written = a.add ? small : large,
          .flops = a.add ? a.to.rows * a.C : 0};
}

void check(const Dropout& a) {
  const Need need("dropout");
  need.rows("rows", a.rows);
  need.multiple("C", a.C, 16);
  need.aligned("y", a.y);
  need.aligned("x", a.x);
  need.drop(a.drop);
  need.same_or_apart("y", a.y, "x", a.x, bytes_of(a.dtype, a.rows.rows, a.C));
}

Cost cost(const Dropout& a) {
  const std::int64_t bytes = static_cast<std::int64_t>(bytes_of(a.dtype, a.rows.rows, a.C));
  return {.bytes_read = bytes, .bytes_written = bytes, .flops = a.rows.rows * a.C};
}

void check(const CastRows& a) {
  const Need need("cast_rows");
  need.slots(a.W, a.slot);
  need.aligned("to", a.to);
  need.aligned("from", a.from);
  need.between("elements", a.elements, 0, INT64_MAX);
  need.stride("stride", a.stride, a.elements);
}

Cost cost(const CastRows& a) {
  return {.bytes_read = a.W * a.elements * 4, .bytes_written = a.W * a.elements * 2, .flops = 0};
}

}  // namespace shoal
