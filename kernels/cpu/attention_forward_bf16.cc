// One head of one sequence: scores of a block of queries and keys in one product, softmax row by row, the
// rounded e times v in a second product. More keys than a block holds: a running maximum and sum per query,
// as in attention_forward.cc.
#include <cmath>
#include <cstring>

#include "kernels/base/error.h"
#include "kernels/cpu/attention_bf16.h"
#include "kernels/cpu/attention_dropout.h"
#include "kernels/cpu/attention_tiles.h"
#include "kernels/cpu/bf16_tiles.h"

namespace shoal::cpu {
namespace {

constexpr std::int64_t kQueries = 64;  // of a block
constexpr std::int64_t kKeys = 512;

// A thread's tile registers and memory, sized for up to `keys` keys.
struct Work {
  static std::size_t bytes(std::int64_t keys, int D) {
    return static_cast<std::size_t>(2 * packed_elements(kQueries, D) + 2 * packed_elements(keys, D) +
                                    2 * packed_elements(D, keys) + 8 * kQueries * round_up(keys, kTileK) +
                                    4 * kQueries * D);
  }
  Work(Bf16Unit unit, std::byte* base, std::int64_t keys, int D)
      : tiles(unit),
        q(reinterpret_cast<bf16*>(base)),
        kt(q + packed_elements(kQueries, D)),
        v(kt + packed_elements(keys, D)),
        s(reinterpret_cast<float*>(v + packed_elements(D, keys))),
        o(s + kQueries * round_up(keys, kTileK)),
        e(reinterpret_cast<bf16*>(o + kQueries * D)),
        numbers(reinterpret_cast<std::uint16_t*>(e + kQueries * round_up(keys, kTileK))) {}

  TileScope tiles;
  bf16* q;                 // A [queries, D]
  bf16* kt;                // B [D, keys]
  bf16* v;                 // B [keys, D]
  float* s;                // [queries, keys]: scores
  float* o;                // [queries, D]
  bf16* e;                 // [queries, keys], an operand: masked and rounded
  std::uint16_t* numbers;  // [queries, keys]: dropout's
};

// A row's scores become the operand; returns the sum of the unrounded exponentials.
float softmax_row(bf16* e, const float* s, std::int64_t columns, float max, const HeadDropout& dropout,
                  const std::uint16_t* numbers) {
  f32x16 sum = {};
  for (std::int64_t j = 0; j < columns; j += kLanes) {
    const f32x16 x = exp16(load16(s + j) - max);
    sum += x;
    put16(e + j, dropout.active() ? dropout.kept(x, numbers + j) : x);
  }
  return sum16(sum);
}

void scale_row(float* s, std::int64_t columns, float scale) {
  for (std::int64_t j = 0; j < columns; j += kLanes) store16(s + j, load16(s + j) * scale);
}

void head_forward(const AttentionForward& a, const SeqItem& item, int head, const Work& t) {
  const SeqRows rows(a.seqs, a.rows, item);
  const std::int64_t C = std::int64_t{a.H} * a.D, ld = 3 * C, S = rows.length;
  const bf16* const qkv = static_cast<const bf16*>(a.qkv) + rows.first * ld + head * a.D;
  const HeadDropout dropout(a.drop, item, head);
  const float scale = 1.0f / std::sqrt(static_cast<float>(a.D));
  for (std::int64_t i = 0; i < S; i += kQueries) {
    const std::int64_t queries = std::min(kQueries, S - i);
    float max[kQueries], sum[kQueries];
    pack_a(t.q, qkv + i * ld, ld, queries, a.D);
    for (std::int64_t j = 0; j < S; j += kKeys) {
      const std::int64_t keys = std::min(kKeys, S - j), columns = ceil16(keys);
      const std::int64_t lde = round_up(columns, kTileK);
      if (i == 0 || S > kKeys) {
        pack_b_transposed(t.kt, qkv + C + j * ld, ld, keys, a.D);
        pack_b(t.v, qkv + 2 * C + j * ld, ld, a.D, keys);
      }
      t.tiles.multiply(t.s, columns, packed_tiles(t.q, a.D), t.kt, ceil16(queries), columns, a.D);
      if (dropout.active()) dropout.numbers(t.numbers, columns, i, j, queries, columns);
      for (std::int64_t r = 0; r < queries; ++r) {
        float* const s = t.s + r * columns;
        bf16* const e = t.e + r * lde;
        scale_row(s, columns, scale);
        const float block_max = row_max(s, keys), before = j == 0 ? block_max : max[r];
        max[r] = block_max > before ? block_max : before;
        const float block_sum = softmax_row(e, s, columns, max[r], dropout, t.numbers + r * columns);
        if (lde > columns) std::memset(static_cast<void*>(e + columns), 0, kLanes * sizeof(bf16));
        if (j == 0) {
          sum[r] = block_sum;
          continue;
        }
        const float shrink = exp16(splat(before - max[r]))[0];
        sum[r] = sum[r] * shrink + block_sum;
        scale_row(t.o + r * a.D, a.D, shrink);
      }
      t.tiles.multiply(t.o, a.D, plain_tiles(t.e, lde), t.v, ceil16(queries), a.D, keys, j > 0);
    }
    for (std::int64_t r = 0; r < queries; ++r) {
      bf16* const o = static_cast<bf16*>(a.o) + (rows.first + i + r) * C + head * a.D;
      store_tile(o, C, t.o + r * a.D, 1, a.D, dropout.scale() / sum[r]);
      a.lse[(rows.first + i + r) * a.H + head] = max[r] + std::log(sum[r]);
    }
  }
}

}  // namespace

void attention_forward_bf16(const AttentionForward& a, Context& context) {
  require(context.bf16_unit != Bf16Unit::kNone, "cpu: bf16 needs AVX512-BF16 or AMX, which this CPU lacks");
  const std::int64_t keys = std::min(kKeys, ceil16(longest(a.seqs, a.rows)));
  context.reserve(Work::bytes(keys, a.D));
  for_heads(
      a.seqs, a.H, context.threads,
      [&](int thread) { return Work(context.bf16_unit, context.scratch<std::byte>(thread), keys, a.D); },
      [&](const SeqItem& item, int head, const Work& work) { head_forward(a, item, head, work); });
}

}  // namespace shoal::cpu
