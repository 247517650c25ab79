// One head of one sequence: scores and dp of a block of queries and keys in two products, m p and ds row by
// row, rounded, and three products for dv, dk and dq. Keys are the outer loop, as in attention_backward.cc.
#include <cmath>

#include "kernels/base/error.h"
#include "kernels/cpu/attention_bf16.h"
#include "kernels/cpu/attention_dropout.h"
#include "kernels/cpu/attention_tiles.h"
#include "kernels/cpu/bf16_tiles.h"

namespace shoal::cpu {
namespace {

constexpr std::int64_t kQueries = 64;  // of a block
constexpr std::int64_t kKeys = 256;

// A thread's tile registers and memory, for sequences of up to `length` rows and `keys` keys at a time.
class Work {
 public:
  static std::size_t bytes(std::int64_t length, std::int64_t keys, int D) {
    return Work(Bf16Unit::kNone, nullptr, length, keys, D).end_;
  }
  Work(Bf16Unit unit, std::byte* base, std::int64_t length, std::int64_t keys, int D)
      : tiles(unit), base_(base) {
    const std::int64_t wide = round_up(keys, kTileK);
    q = take<bf16>(packed_elements(kQueries, D));
    dout = take<bf16>(packed_elements(kQueries, D));
    q_right = take<bf16>(packed_elements(round_up(D, kTile), kQueries));
    dout_right = take<bf16>(packed_elements(round_up(D, kTile), kQueries));
    kt = take<bf16>(packed_elements(keys, D));
    vt = take<bf16>(packed_elements(keys, D));
    k_right = take<bf16>(packed_elements(round_up(D, kTile), wide));
    p = take<bf16>(kQueries * wide);
    ds = take<bf16>(kQueries * wide);
    transposed = take<bf16>(packed_elements(keys, kQueries));
    s = take<float>(kQueries * keys);
    dp = take<float>(kQueries * keys);
    dk = take<float>(keys * D);
    dv = take<float>(keys * D);
    dq = take<float>(length * D);
    delta = take<float>(length);
    numbers = take<std::uint16_t>(kQueries * keys);
  }

  TileScope tiles;
  bf16 *q, *dout;              // A [queries, D]
  bf16 *q_right, *dout_right;  // B [queries, D]
  bf16 *kt, *vt;               // B [D, keys]
  bf16* k_right;               // B [keys, D]
  bf16 *p, *ds;                // [queries, keys]: m p and ds, rounded
  bf16* transposed;            // A [keys, queries] of either
  float *s, *dp;               // [queries, keys]
  float *dk, *dv;              // [keys, D]
  float* dq;                   // [length, D]
  float* delta;                // [length]
  std::uint16_t* numbers;      // [queries, keys]: dropout's

 private:
  template <typename T>
  T* take(std::int64_t elements) {
    std::byte* const at = base_ == nullptr ? nullptr : base_ + end_;
    end_ += static_cast<std::size_t>(round_up(elements * static_cast<std::int64_t>(sizeof(T)), 64));
    return reinterpret_cast<T*>(at);
  }
  std::byte* base_;
  std::size_t end_ = 0;
};

// Scores and dp of a block become its operands; zeros beyond the keys, up to a whole tile.
void make_operands(const Work& t, const HeadDropout& dropout, std::int64_t queries, std::int64_t keys,
                   float scale, const float* lse, std::int64_t lse_step, const float* delta) {
  const std::int64_t columns = ceil16(keys), wide = round_up(columns, kTileK);
  for (std::int64_t r = 0; r < queries; ++r) {
    const float shift = lse[r * lse_step];
    for (std::int64_t j = 0; j < columns; j += kLanes) {
      const std::int64_t at = r * columns + j;
      f32x16 p = exp16(fma(load16(t.s + at), splat(scale), splat(-shift)));
      if (j + kLanes > keys) p = first_lanes(p, keys - j, f32x16{});
      f32x16 dp = load16(t.dp + at), mp = p;
      if (dropout.active()) {
        mp = dropout.kept(p * dropout.scale(), t.numbers + at);
        dp = dropout.kept(dp * dropout.scale(), t.numbers + at);
      }
      put16(t.p + r * wide + j, mp);
      put16(t.ds + r * wide + j, p * (dp - delta[r]));
    }
    if (wide > columns) {
      put16(t.p + r * wide + columns, f32x16{});
      put16(t.ds + r * wide + columns, f32x16{});
    }
  }
}

void head_backward(const AttentionBackward& a, const SeqItem& item, int head, const Work& t) {
  const SeqRows rows(a.seqs, a.rows, item);
  const int D = a.D;
  const std::int64_t C = std::int64_t{a.H} * D, ld = 3 * C, S = rows.length;
  const bf16* const qkv = static_cast<const bf16*>(a.qkv) + rows.first * ld + head * D;
  bf16* const dqkv = static_cast<bf16*>(a.dqkv) + rows.first * ld + head * D;
  const bf16* const dout = static_cast<const bf16*>(a.dout) + rows.first * C + head * D;
  const float* const lse = a.lse + rows.first * a.H + head;
  const HeadDropout dropout(a.drop, item, head);
  const float scale = 1.0f / std::sqrt(static_cast<float>(D));
  make_delta(t.delta, dout, static_cast<const bf16*>(a.o) + rows.first * C + head * D, C, S, D);
  for (std::int64_t j = 0; j < S; j += kKeys) {
    const std::int64_t keys = std::min(kKeys, S - j), columns = ceil16(keys),
                       wide = round_up(columns, kTileK);
    pack_b_transposed(t.kt, qkv + C + j * ld, ld, keys, D);
    pack_b_transposed(t.vt, qkv + 2 * C + j * ld, ld, keys, D);
    pack_b(t.k_right, qkv + C + j * ld, ld, D, keys);
    for (std::int64_t i = 0; i < S; i += kQueries) {
      const std::int64_t queries = std::min(kQueries, S - i), m = ceil16(queries);
      if (j == 0 || S > kQueries) {
        pack_a(t.q, qkv + i * ld, ld, queries, D);
        pack_b(t.q_right, qkv + i * ld, ld, D, queries);
        pack_a(t.dout, dout + i * C, C, queries, D);
        pack_b(t.dout_right, dout + i * C, C, D, queries);
      }
      t.tiles.multiply(t.s, columns, packed_tiles(t.q, D), t.kt, m, columns, D);
      t.tiles.multiply(t.dp, columns, packed_tiles(t.dout, D), t.vt, m, columns, D);
      if (dropout.active()) dropout.numbers(t.numbers, columns, i, j, queries, columns);
      make_operands(t, dropout, queries, keys, scale, lse + i * a.H, a.H, t.delta + i);
      pack_a_transposed(t.transposed, t.p, wide, columns, queries);
      t.tiles.multiply(t.dv, D, packed_tiles(t.transposed, queries), t.dout_right, columns, D, queries,
                       i > 0);
      pack_a_transposed(t.transposed, t.ds, wide, columns, queries);
      t.tiles.multiply(t.dk, D, packed_tiles(t.transposed, queries), t.q_right, columns, D, queries, i > 0);
      t.tiles.multiply(t.dq + i * D, D, plain_tiles(t.ds, wide), t.k_right, m, D, keys, j > 0);
    }
    store_tile(dqkv + C + j * ld, ld, t.dk, keys, D, scale);
    store_tile(dqkv + 2 * C + j * ld, ld, t.dv, keys, D, 1.0f);
  }
  store_tile(dqkv, ld, t.dq, S, D, scale);
}

}  // namespace

void attention_backward_bf16(const AttentionBackward& a, Context& context) {
  require(context.bf16_unit != Bf16Unit::kNone, "cpu: bf16 needs AVX512-BF16 or AMX, which this CPU lacks");
  const std::int64_t length = ceil16(longest(a.seqs, a.rows)), keys = std::min(kKeys, length);
  context.reserve(Work::bytes(length, keys, a.D));
  for_heads(
      a.seqs, a.H, context.threads,
      [&](int thread) {
        return Work(context.bf16_unit, context.scratch<std::byte>(thread), length, keys, a.D);
      },
      [&](const SeqItem& item, int head, const Work& work) { head_backward(a, item, head, work); });
}

}  // namespace shoal::cpu
