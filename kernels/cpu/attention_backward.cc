// attention_backward on the CPU in fp32: one (sequence, head) at a time; scores and mask of a block of
// queries and keys are made again, and give their part of dq, dk and dv. Keys are the outer loop: dk and dv
// of a block are finished in one go, dq of the whole sequence gathers.
#include <cmath>

#include "kernels/attention.h"
#include "kernels/cpu/attention_bf16.h"
#include "kernels/cpu/attention_dropout.h"
#include "kernels/cpu/attention_tiles.h"
#include "kernels/cpu/context.h"
#include "kernels/cpu/gemm.h"

namespace shoal::cpu {
namespace {

constexpr std::int64_t kQueries = 64;  // of a block
constexpr std::int64_t kKeys = 256;

// A thread's tiles.
struct Tiles {
  static std::size_t elements(std::int64_t length, std::int64_t keys, int D) {
    return static_cast<std::size_t>(2 * kQueries * D + 5 * keys * D + 3 * kQueries * keys + length * (D + 1));
  }
  Tiles(float* base, std::int64_t length, std::int64_t keys, int D)
      : q(base),
        dout(q + kQueries * D),
        k(dout + kQueries * D),
        kt(k + keys * D),
        vt(kt + keys * D),
        dk(vt + keys * D),
        dv(dk + keys * D),
        p(dv + keys * D),
        ds(p + kQueries * keys),
        numbers(reinterpret_cast<std::uint16_t*>(ds + kQueries * keys)),
        dq(ds + 2 * kQueries * keys),
        delta(dq + length * D) {}

  float* q;                // [queries, D], scaled
  float* dout;             // [queries, D]
  float* k;                // [keys, D]
  float* kt;               // [D, keys]
  float* vt;               // [D, keys]
  float* dk;               // [keys, D]
  float* dv;               // [keys, D]
  float* p;                // [queries, keys]: scores, then m p
  float* ds;               // [queries, keys]: dp, then ds
  std::uint16_t* numbers;  // [queries, keys]: dropout's
  float* dq;               // [length, D]
  float* delta;            // [length]
};

// Scores and dp of a block become m p and ds.
void make_operands(const Tiles& t, const HeadDropout& dropout, std::int64_t queries, std::int64_t columns,
                   const float* lse, std::int64_t lse_step, const float* delta) {
  for (std::int64_t r = 0; r < queries; ++r) {
    const float shift = lse[r * lse_step];
    for (std::int64_t j = r * columns; j < (r + 1) * columns; j += kLanes) {
      const f32x16 p = exp16(load16(t.p + j) - shift);
      f32x16 dp = load16(t.ds + j), mp = p;
      if (dropout.active()) {
        mp = dropout.kept(p * dropout.scale(), t.numbers + j);
        dp = dropout.kept(dp * dropout.scale(), t.numbers + j);
      }
      store16(t.p + j, mp);
      store16(t.ds + j, p * (dp - delta[r]));
    }
  }
}

void head_backward(const AttentionBackward& a, const SeqItem& item, int head, float* scratch,
                   std::int64_t longest_one, std::int64_t max_keys) {
  const SeqRows rows(a.seqs, a.rows, item);
  const int D = a.D;
  const std::int64_t C = std::int64_t{a.H} * D, ld = 3 * C, S = rows.length;
  const auto* const qkv = static_cast<const float*>(a.qkv) + rows.first * ld + head * D;
  auto* const dqkv = static_cast<float*>(a.dqkv) + rows.first * ld + head * D;
  const auto* const dout = static_cast<const float*>(a.dout) + rows.first * C + head * D;
  const float* const lse = a.lse + rows.first * a.H + head;
  const Tiles t(scratch, longest_one, max_keys, D);
  const HeadDropout dropout(a.drop, item, head);
  const float scale = 1.0f / std::sqrt(static_cast<float>(D));
  make_delta(t.delta, dout, static_cast<const float*>(a.o) + rows.first * C + head * D, C, S, D);
  for (std::int64_t j = 0; j < S; j += kKeys) {
    const std::int64_t keys = std::min(kKeys, S - j), columns = ceil16(keys);
    load_tile(t.k, qkv + C + j * ld, ld, keys, D, 1.0f);
    load_transposed_tile(t.kt, qkv + C + j * ld, ld, keys, D);
    load_transposed_tile(t.vt, qkv + 2 * C + j * ld, ld, keys, D);
    for (std::int64_t i = 0; i < S; i += kQueries) {
      const std::int64_t queries = std::min(kQueries, S - i);
      if (j == 0 || S > kQueries) {
        load_tile(t.q, qkv + i * ld, ld, queries, D, scale);
        load_tile(t.dout, dout + i * C, C, queries, D, 1.0f);
      }
      multiply_tile(t.p, columns, {t.q, D}, t.kt, columns, queries, columns, D, false);
      multiply_tile(t.ds, columns, {t.dout, D}, t.vt, columns, queries, columns, D, false);
      if (dropout.active()) dropout.numbers(t.numbers, columns, i, j, queries, columns);
      make_operands(t, dropout, queries, columns, lse + i * a.H, a.H, t.delta + i);
      multiply_tile(t.dv, D, {t.p, 1, columns}, t.dout, D, keys, D, queries, i > 0);
      multiply_tile(t.dk, D, {t.ds, 1, columns}, t.q, D, keys, D, queries, i > 0);
      multiply_tile(t.dq + i * D, D, {t.ds, columns}, t.k, D, queries, D, keys, j > 0);
    }
    store_tile(dqkv + C + j * ld, ld, t.dk, keys, D, 1.0f);
    store_tile(dqkv + 2 * C + j * ld, ld, t.dv, keys, D, 1.0f);
  }
  store_tile(dqkv, ld, t.dq, S, D, scale);
}

void backward_f32(const AttentionBackward& a, Context& context) {
  const std::int64_t length = ceil16(longest(a.seqs, a.rows)), keys = std::min(kKeys, length);
  context.reserve(Tiles::elements(length, keys, a.D) * sizeof(float));
  for_heads(
      a.seqs, a.H, context.threads, [&](int thread) { return context.scratch<float>(thread); },
      [&](const SeqItem& item, int head, float* scratch) {
        head_backward(a, item, head, scratch, length, keys);
      });
}

}  // namespace

void attention_backward(const AttentionBackward& a, Stream stream) {
  check(a);
  Context& ctx = context(stream);
  a.dtype == DType::kF32 ? backward_f32(a, ctx) : attention_backward_bf16(a, ctx);
  zero_tails(ctx, a.dqkv, a.dtype, 3 * a.H * a.D, a.rows);
}

}  // namespace shoal::cpu
