// attention_backward, without atomics: a block recomputes the probabilities of some queries and some keys of
// one head of one sequence, a warp those of 16 queries, and owns what it sums.
//   up to 128 tokens   one block: all queries; tiles of keys ascending, whose dk and dv it finishes one by
//   one,
//                      while dq grows
//   more               one block a tile of queries for dq, keys ascending; one a tile of keys for dk and dv,
//                      queries ascending: scores are made twice, and nothing is shared
// The form is that of the sequence's own work list.
#include "kernels/attention.h"
#include "kernels/cuda/parts/attention.h"
#include "kernels/cuda/parts/refuse.h"

namespace shoal::SHOAL_TARGET {
namespace {

constexpr int kTileBlocks = 8;  // of one long sequence at once
constexpr float kLog2E = 1.44269504f;

enum class Sums { kAll, kQueries, kKeys };  // what a block makes: dq, dk and dv, or one of them

template <int D_, int kWarps_, Sums kSums_>
struct Form {
  static constexpr int D = D_;
  static constexpr int kWarps = kWarps_;
  static constexpr Sums kSums = kSums_;
  static constexpr int kQueries = kWarps * 16;                 // of a tile
  static constexpr int kKeys = kQueries < 64 ? kQueries : 64;  // of a tile
  // For dk and dv a warp has 16 keys, and all columns or a part of them.
  static constexpr int kKeyTiles = kKeys / 16;
  static constexpr int kParts = kWarps / kKeyTiles > D / 16 ? D / 16 : kWarps / kKeyTiles;
  static constexpr int kColumns = D / kParts;
};

template <typename F>
struct alignas(128) Shared {
  bf16 q[F::kQueries * F::D];
  bf16 dout[F::kQueries * F::D];
  bf16 k[F::kKeys * F::D];
  bf16 v[F::kKeys * F::D];
  bf16 mp[F::kQueries * F::kKeys];
  bf16 ds[F::kQueries * F::kKeys];
  float delta[F::kQueries];
};

__device__ __forceinline__ int warp_of_thread() {
  return static_cast<int>(threadIdx.x) / kWarp;
}

// delta of the warp's 16 queries: the sums over a row of do o, `o` the tile's first row, of which `valid` are
// there.
template <typename F>
__device__ void make_delta(Shared<F>& shared, const bf16* o, std::int64_t ld, int valid) {
  constexpr int kChunks = F::D / 8;
  const int lane = lane_of_thread();
#pragma unroll 1
  for (int i = lane; i < 16 * kChunks; i += kWarp) {
    const int row = warp_of_thread() * 16 + i / kChunks, chunk = i % kChunks;
    float sum = 0;
    if (row < valid) {
      float a[8], b[8];
      load8(a, chunk_of<F::D>(shared.dout, row, chunk));
      load8(b, o + row * ld + chunk * 8);
#pragma unroll
      for (int j = 0; j < 8; ++j) sum = fmaf(a[j], b[j], sum);
    }
#pragma unroll
    for (int apart = kChunks / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(kFullWarp, sum, apart);
    if (chunk == 0) shared.delta[row] = sum;
  }
  __syncwarp();
}

// c += 16 rows of x (from `row`) times 16 rows of y (from `column`).
template <int D>
__device__ __forceinline__ void multiply_block(float (&c)[2][4], bf16* x, int row, bf16* y, int column) {
#pragma unroll
  for (int k = 0; k < D; k += 16) {
    std::uint32_t a[4], b[4];
    a_fragment<D>(a, x, row, k);
    b_fragment<D>(b, y, column, k);
    multiply_pair(c[0], c[1], a, b);
  }
}

// A warp's 16 queries, at `query` + its row, `queries` of the tile's being there.
struct Queries {
  int query;
  int queries;
  float lse[2];
  float delta[2];
  float scale;
};

// The warp's queries against the tile's keys, 16 at a time: mp and ds to shared memory for the sums of dk and
// dv, and dq
// += ds k. Rows and keys beyond the sequence give zeros.
template <typename F>
__device__ __forceinline__ void walk_keys(Shared<F>& shared, const AttentionDropout& dropout,
                                          const Queries& q, int key, int keys, float (&dq)[F::D / 8][4]) {
  const int row = warp_of_thread() * 16, lane = lane_of_thread();
#pragma unroll 1
  for (int first = 0; first < keys; first += 16) {
    float s[2][4] = {}, dp[2][4] = {};
    multiply_block<F::D>(s, shared.q, row, shared.k, first);
    multiply_block<F::D>(dp, shared.dout, row, shared.v, first);
    Philox4 numbers = {};
    if (dropout.active()) numbers = dropout.numbers(q.query + row, key + first);
    std::uint32_t mp[4], ds[4];  // a operands
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float mp_of[2], ds_of[2];
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int i = half * 2 + j;
          const bool here =
              row + lane / 4 + half * 8 < q.queries && first + pair * 8 + lane % 4 * 2 + j < keys;
          const float p = here ? exp2f((s[pair][i] * q.scale - q.lse[half]) * kLog2E) : 0.0f;
          const float m = !dropout.active() || dropout.keeps(numbers, pair * 4 + i) ? dropout.scale() : 0.0f;
          mp_of[j] = m > 0 ? p * m : 0.0f;
          ds_of[j] = here ? p * ((m > 0 ? dp[pair][i] * m : 0.0f) - q.delta[half]) : 0.0f;
        }
        mp[pair * 2 + half] = pack_bf16(mp_of[0], mp_of[1]);
        ds[pair * 2 + half] = pack_bf16(ds_of[0], ds_of[1]);
      }
    }
    if (F::kSums != Sums::kQueries) {
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int r = row + lane / 4 + half * 8, chunk = first / 8 + pair, column = lane % 4 * 2;
          *reinterpret_cast<std::uint32_t*>(chunk_of<F::kKeys>(shared.mp, r, chunk) + column) =
              mp[pair * 2 + half];
          *reinterpret_cast<std::uint32_t*>(chunk_of<F::kKeys>(shared.ds, r, chunk) + column) =
              ds[pair * 2 + half];
        }
      }
    }
    if (F::kSums != Sums::kKeys) {
#pragma unroll
      for (int d = 0; d < F::D; d += 16) {
        std::uint32_t b[4];
        b_fragment_transposed<F::D>(b, shared.k, d, first);
        multiply_pair(dq[d / 8], dq[d / 8 + 1], ds, b);
      }
    }
  }
}

// dk and dv of 16 keys and F::kColumns columns.
template <typename F>
struct KeySums {
  float dk[F::kColumns / 8][4], dv[F::kColumns / 8][4];

  static __device__ bool has_part() { return warp_of_thread() < F::kKeyTiles * F::kParts; }
  static __device__ int row() { return warp_of_thread() % F::kKeyTiles * 16; }
  static __device__ int column() { return warp_of_thread() / F::kKeyTiles * F::kColumns; }

  __device__ void clear() {
#pragma unroll
    for (int n = 0; n < F::kColumns / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) dk[n][i] = dv[n][i] = 0;
    }
  }
  __device__ void add(Shared<F>& shared, int queries) {
#pragma unroll 1
    for (int i = 0; i < queries; i += 16) {
      std::uint32_t mp[4], ds[4];
      a_fragment_transposed<F::kKeys>(mp, shared.mp, row(), i);
      a_fragment_transposed<F::kKeys>(ds, shared.ds, row(), i);
#pragma unroll
      for (int d = 0; d < F::kColumns; d += 16) {
        std::uint32_t b[4];
        b_fragment_transposed<F::D>(b, shared.dout, column() + d, i);
        multiply_pair(dv[d / 8], dv[d / 8 + 1], mp, b);
        b_fragment_transposed<F::D>(b, shared.q, column() + d, i);
        multiply_pair(dk[d / 8], dk[d / 8 + 1], ds, b);
      }
    }
  }
};

template <typename F, int kList>
__global__ void __launch_bounds__(F::kWarps* kWarp, F::kWarps > 4 ? 1 : 2)
    attention_backward_kernel(AttentionBackward a) {
  SHOAL_DYNAMIC_SHARED(Shared<F>, shared);
  if (static_cast<int>(blockIdx.x) >= a.seqs.item_count[kList]) return;
  const Sequence s = sequence_of(a.seqs, a.rows, kList, static_cast<int>(blockIdx.x));
  const int head = static_cast<int>(blockIdx.y), row = warp_of_thread() * 16, lane = lane_of_thread();
  const std::int64_t C = static_cast<std::int64_t>(a.H) * F::D, ld = 3 * C;
  const bf16* const qkv = static_cast<const bf16*>(a.qkv) + s.first * ld + head * F::D;
  const bf16* const dout = static_cast<const bf16*>(a.dout) + s.first * C + head * F::D;
  const bf16* const o = static_cast<const bf16*>(a.o) + s.first * C + head * F::D;
  const float* const lse_of = a.lse + s.first * a.H + head;
  bf16* const dqkv = static_cast<bf16*>(a.dqkv) + s.first * ld + head * F::D;
  const float scale = 1.0f / sqrtf(static_cast<float>(F::D));
  const AttentionDropout dropout(a.drop, s, head);

  // One of the two is walked through whole by each block; of the other the blocks share the tiles.
  constexpr bool kAllQueries = F::kSums == Sums::kKeys;
  constexpr int kTile = kAllQueries ? F::kKeys : F::kQueries;
  for (int own = static_cast<int>(blockIdx.z) * kTile; own < s.length;
       own += static_cast<int>(gridDim.z) * kTile) {
    float dq[F::D / 8][4];
#pragma unroll
    for (int n = 0; n < F::D / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) dq[n][i] = 0;
    }
    const int last_key = kAllQueries ? own + 1 : s.length;
    for (int key = kAllQueries ? own : 0; key < last_key; key += F::kKeys) {
      const int keys = min(F::kKeys, s.length - key);
      bring_rows<F::D>(shared.k, qkv + C + key * ld, ld, F::kKeys, keys);
      bring_rows<F::D>(shared.v, qkv + 2 * C + key * ld, ld, F::kKeys, keys);
      KeySums<F> sums;
      if (kAllQueries) sums.clear();
      const int last_query = kAllQueries ? s.length : own + 1;
      for (int query = kAllQueries ? 0 : own; query < last_query; query += F::kQueries) {
        const int queries = min(F::kQueries, s.length - query);
        const bool first_time = kAllQueries || key == 0, here = row < queries;
        if (first_time) {
          bring_rows<F::D>(shared.q, qkv + query * ld, ld, F::kQueries, queries);
          bring_rows<F::D>(shared.dout, dout + query * C, C, F::kQueries, queries);
        }
        copy_async_commit();
        copy_async_wait<0>();
        __syncthreads();
        if (first_time && here) make_delta<F>(shared, o + query * C, C, queries);
        if (here) {
          Queries q{.query = query, .queries = queries, .lse = {}, .delta = {}, .scale = scale};
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const int r = row + lane / 4 + half * 8;
            q.lse[half] = r < queries ? lse_of[static_cast<std::int64_t>(query + r) * a.H] : 0.0f;
            q.delta[half] = shared.delta[r];
          }
          walk_keys<F>(shared, dropout, q, key, keys, dq);
        }
        __syncthreads();
        if (F::kSums == Sums::kAll) sums.clear();
        if (F::kSums != Sums::kQueries && KeySums<F>::has_part() && KeySums<F>::row() < keys)
          sums.add(shared, queries);
        if (kAllQueries) __syncthreads();
      }
      if (F::kSums != Sums::kQueries && KeySums<F>::has_part() && KeySums<F>::row() < keys) {
        const int r = KeySums<F>::row(), column = KeySums<F>::column();
        store_rows<F::D, F::kColumns>(dqkv + C + key * ld, ld, sums.dk, scale, scale, shared.k, r, column,
                                      keys);
        store_rows<F::D, F::kColumns>(dqkv + 2 * C + key * ld, ld, sums.dv, 1, 1, shared.v, r, column, keys);
      }
      __syncthreads();
    }
    if (F::kSums != Sums::kKeys && row < s.length - own) {
      store_rows<F::D, F::D>(dqkv + own * ld, ld, dq, scale, scale, shared.q, row, 0, s.length - own);
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kTailThreads) attention_backward_kernel_tail(AttentionBackward a) {
  zero_tail_rows(a.dqkv, 3 * a.H * a.D, a.rows);
}

template <int D, int kWarps, Sums kSums, int kList>
void launch_list(const AttentionBackward& a, unsigned tiles, Stream stream) {
  using F = Form<D, kWarps, kSums>;
  const unsigned items = items_of_list(a.seqs, a.rows, kList);
  if (items == 0) return;
  launch<attention_backward_kernel<F, kList>>({.name = "attention_backward",
                                               .grid = dim3(items, static_cast<unsigned>(a.H), tiles),
                                               .block = dim3(kWarps * kWarp),
                                               .shared = sizeof(Shared<F>),
                                               .stream = stream},
                                              a);
}

template <int D>
void launch_lists(const AttentionBackward& a, Stream stream) {
  // Where D is 128, eight warps share what two or four cannot hold.
  launch_list<D, (D > 64 ? 8 : 2), Sums::kAll, 0>(a, 1, stream);
  launch_list<D, (D > 64 ? 8 : 4), Sums::kAll, 1>(a, 1, stream);
  launch_list<D, 8, Sums::kAll, 2>(a, 1, stream);
  launch_list<D, 4, Sums::kQueries, 3>(a, kTileBlocks, stream);
  launch_list<D, (D > 64 ? 8 : 4), Sums::kKeys, 3>(a, kTileBlocks, stream);
}

}  // namespace

void attention_backward(const AttentionBackward& a, Stream stream) {
  check(a);
  require_bf16("attention_backward", a.dtype);
  launch<attention_backward_kernel_tail>({.name = "attention_backward",
                                          .grid = dim3(static_cast<unsigned>(a.rows.rows / kRowAlign)),
                                          .block = dim3(kTailThreads),
                                          .stream = stream},
                                         a);
  if (a.D == 16) return launch_lists<16>(a, stream);
  if (a.D == 32) return launch_lists<32>(a, stream);
  if (a.D == 64) return launch_lists<64>(a, stream);
  launch_lists<128>(a, stream);
}

}  // namespace shoal::SHOAL_TARGET
