// attention_forward on the CPU in fp32: one (sequence, head) at a time, by blocks of queries and keys. A
// sequence that fits one block of keys is done directly; a longer one keeps a running maximum and sum per
// query (Milakov and Gimelshein, arXiv 1805.02867).
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
constexpr std::int64_t kKeys = 512;

// A thread's tiles.
struct Tiles {
  static std::size_t elements(std::int64_t keys, int D) {
    return static_cast<std::size_t>(2 * kQueries * D + 2 * keys * D + 2 * kQueries * keys);
  }
  Tiles(float* base, std::int64_t keys, int D)
      : q(base),
        o(q + kQueries * D),
        kt(o + kQueries * D),
        v(kt + keys * D),
        e(v + keys * D),
        numbers(reinterpret_cast<std::uint16_t*>(e + kQueries * keys)) {}

  float* q;                // [queries, D], scaled
  float* o;                // [queries, D]
  float* kt;               // [D, keys]
  float* v;                // [keys, D]
  float* e;                // [queries, keys]
  std::uint16_t* numbers;  // [queries, keys]: dropout's
};

// One row of scores becomes exp(s - max); returns the sum. s has `n` elements in whole vectors.
float exponentials(float* s, std::int64_t n, float max) {
  f32x16 sum = {};
  for (std::int64_t j = 0; j < ceil16(n); j += kLanes) {
    const f32x16 e = exp16(load16(s + j) - max);
    store16(s + j, e);
    sum += e;
  }
  return sum16(sum);
}

void drop(const Tiles& t, std::int64_t queries, std::int64_t columns, const HeadDropout& dropout) {
  for (std::int64_t j = 0; j < queries * columns; j += kLanes)
    store16(t.e + j, dropout.kept(load16(t.e + j), t.numbers + j));
}

void head_forward(const AttentionForward& a, const SeqItem& item, int head, float* scratch,
                  std::int64_t max_keys) {
  const SeqRows rows(a.seqs, a.rows, item);
  const std::int64_t C = std::int64_t{a.H} * a.D, ld = 3 * C, S = rows.length;
  const auto* const qkv = static_cast<const float*>(a.qkv) + rows.first * ld + head * a.D;
  const Tiles t(scratch, max_keys, a.D);
  const HeadDropout dropout(a.drop, item, head);
  const float scale = 1.0f / std::sqrt(static_cast<float>(a.D));
  for (std::int64_t i = 0; i < S; i += kQueries) {
    const std::int64_t queries = std::min(kQueries, S - i);
    float max[kQueries], sum[kQueries];
    load_tile(t.q, qkv + i * ld, ld, queries, a.D, scale);
    for (std::int64_t j = 0; j < S; j += kKeys) {
      const std::int64_t keys = std::min(kKeys, S - j), columns = ceil16(keys);
      if (i == 0 || S > kKeys) {
        load_transposed_tile(t.kt, qkv + C + j * ld, ld, keys, a.D);
        load_tile(t.v, qkv + 2 * C + j * ld, ld, keys, a.D, 1.0f);
      }
      multiply_tile(t.e, columns, {t.q, a.D}, t.kt, columns, queries, columns, a.D, false);
      for (std::int64_t r = 0; r < queries; ++r) {
        float* const s = t.e + r * columns;
        const float block_max = row_max(s, keys);
        if (j == 0) {
          max[r] = block_max;
          sum[r] = exponentials(s, keys, max[r]);
          continue;
        }
        const float before = max[r];
        max[r] = block_max > before ? block_max : before;
        const float shrink = exp16(splat(before - max[r]))[0];
        sum[r] = sum[r] * shrink + exponentials(s, keys, max[r]);
        for (int d = 0; d < a.D; ++d) t.o[r * a.D + d] *= shrink;
      }
      if (dropout.active()) {
        dropout.numbers(t.numbers, columns, i, j, queries, columns);
        drop(t, queries, columns, dropout);
      }
      multiply_tile(t.o, a.D, {t.e, columns}, t.v, a.D, queries, a.D, keys, j > 0);
    }
    for (std::int64_t r = 0; r < queries; ++r) {
      auto* const o = static_cast<float*>(a.o) + (rows.first + i + r) * C + head * a.D;
      store_tile(o, C, t.o + r * a.D, 1, a.D, dropout.scale() / sum[r]);
      a.lse[(rows.first + i + r) * a.H + head] = max[r] + std::log(sum[r]);
    }
  }
}

void forward_f32(const AttentionForward& a, Context& context) {
  const std::int64_t keys = std::min(kKeys, ceil16(longest(a.seqs, a.rows)));
  context.reserve(Tiles::elements(keys, a.D) * sizeof(float));
  for_heads(
      a.seqs, a.H, context.threads, [&](int thread) { return context.scratch<float>(thread); },
      [&](const SeqItem& item, int head, float* scratch) { head_forward(a, item, head, scratch, keys); });
}

}  // namespace

void attention_forward(const AttentionForward& a, Stream stream) {
  check(a);
  Context& ctx = context(stream);
  a.dtype == DType::kF32 ? forward_f32(a, ctx) : attention_forward_bf16(a, ctx);
  zero_tails(ctx, a.o, a.dtype, a.H * a.D, a.rows);
}

}  // namespace shoal::cpu
