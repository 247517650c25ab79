#include "kernels/attention.h"

#include "kernels/checks.h"

namespace shoal {
namespace {

void check_heads(const Need& need, int H, int D) {
  need.between("H", H, 1, 256);
  need.one_of("D", D, {16, 32, 64, 128});
}

}  // namespace

void check(const AttentionForward& a) {
  const Need need("attention_forward");
  need.rows("rows", a.rows);
  check_heads(need, a.H, a.D);
  need.aligned("o", a.o);
  need.pointer("lse", a.lse);
  need.aligned("qkv", a.qkv);
  need.seqs(a.seqs);
  need.work_lists(a.seqs);
  need.drop(a.drop);
  const std::int64_t C = std::int64_t{a.H} * a.D;
  need.apart("o", a.o, bytes_of(a.dtype, a.rows.rows, C), "qkv", a.qkv,
             bytes_of(a.dtype, a.rows.rows, 3 * C));
}

Cost cost(const AttentionForward& a, std::int64_t sum_of_squared_lengths) {
  const std::int64_t C = std::int64_t{a.H} * a.D, e = static_cast<std::int64_t>(size_of(a.dtype));
  return {.bytes_read = a.rows.rows * 3 * C * e,
          .bytes_written = a.rows.rows * (C * e + a.H * 4),
          .flops = 4 * C * sum_of_squared_lengths};  // two products
}

void check(const AttentionBackward& a) {
  const Need need("attention_backward");
  need.rows("rows", a.rows);
  check_heads(need, a.H, a.D);
  need.aligned("dqkv", a.dqkv);
  need.aligned("dout", a.dout);
  need.aligned("qkv", a.qkv);
  need.aligned("o", a.o);
  need.pointer("lse", a.lse);
  need.seqs(a.seqs);
  need.work_lists(a.seqs);
  need.drop(a.drop);
  const std::int64_t C = std::int64_t{a.H} * a.D;
  const std::size_t one = bytes_of(a.dtype, a.rows.rows, C), three = 3 * one;
  need.apart("dqkv", a.dqkv, three, "qkv", a.qkv, three);
  need.apart("dqkv", a.dqkv, three, "dout", a.dout, one);
  need.apart("dqkv", a.dqkv, three, "o", a.o, one);
}

Cost cost(const AttentionBackward& a, std::int64_t sum_of_squared_lengths) {
  const std::int64_t C = std::int64_t{a.H} * a.D, e = static_cast<std::int64_t>(size_of(a.dtype));
  return {.bytes_read = a.rows.rows * (5 * C * e + a.H * 4),
          .bytes_written = a.rows.rows * 3 * C * e,
          .flops = 10 * C * sum_of_squared_lengths};  // five products, one of them recomputed
}

}  // namespace shoal
