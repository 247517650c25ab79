// attention_forward: a block makes up to 64 queries of one head of one sequence, a warp 16 of them. Up to 128
// keys (64 where D is 128): all of them at once, a plain softmax; more: tiles of keys ascending, with a
// running maximum and sum. The form is that of the sequence's own work list.
#include "kernels/attention.h"
#include "kernels/cuda/parts/attention.h"
#include "kernels/cuda/parts/refuse.h"

namespace shoal::SHOAL_TARGET {
namespace {

constexpr int kQueryBlocks = 8;  // of one long sequence at once

template <int D, int kWarps, int kKeys>
struct alignas(128) Shared {
  bf16 q[kWarps * 16 * D];
  bf16 k[kKeys * D];
  bf16 v[kKeys * D];
};

constexpr float kLog2E = 1.44269504f;

template <int D, int kWarps, int kKeys>
class QueryRows {
 public:
  __device__ QueryRows(const AttentionForward& a, const Sequence& s, int head, int first)
      : s_(s), dropout_(a.drop, s, head), first_(first), row_(static_cast<int>(threadIdx.x) / kWarp * 16) {
    clear();
  }
  __device__ bool here() const { return first_ + row_ < s_.length; }  // the warp has queries

  __device__ void add_keys(Shared<D, kWarps, kKeys>& shared, int key, float scale) {
    const int keys = min(kKeys, s_.length - key), lane = lane_of_thread();
    float s[kKeys / 8][4];
    multiply_rows<D, kKeys>(s, shared.q, row_, shared.k, keys);
    float largest[2] = {max_[0], max_[1]};
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const bool is_key = n * 8 + lane % 4 * 2 + i % 2 < keys;
        s[n][i] = is_key ? s[n][i] * scale : minus_infinity();
        largest[i / 2] = fmaxf(largest[i / 2], s[n][i]);
      }
    }
    float sum[2] = {};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      largest[half] = fmaxf(largest[half], __shfl_xor_sync(kFullWarp, largest[half], 1));
      largest[half] = fmaxf(largest[half], __shfl_xor_sync(kFullWarp, largest[half], 2));
    }
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        s[n][i] = exp2f((s[n][i] - largest[i / 2]) * kLog2E);  // 0 where there is no key
        sum[i / 2] += s[n][i];
      }
    }
    if (key > 0) {
      const float shrink[2] = {exp2f((max_[0] - largest[0]) * kLog2E),
                               exp2f((max_[1] - largest[1]) * kLog2E)};
      sum_[0] *= shrink[0];
      sum_[1] *= shrink[1];
#pragma unroll
      for (int n = 0; n < D / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) o_[n][i] *= shrink[i / 2];
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      sum[half] += __shfl_xor_sync(kFullWarp, sum[half], 1);
      sum[half] += __shfl_xor_sync(kFullWarp, sum[half], 2);
      sum_[half] += sum[half];
      max_[half] = largest[half];
    }
#pragma unroll
    for (int n = 0; n < kKeys / 8; n += 2) {
      if (n * 8 >= keys) continue;
      if (dropout_.active()) drop(s[n], s[n + 1], key + n * 8);
      const std::uint32_t e[4] = {pack_bf16(s[n][0], s[n][1]), pack_bf16(s[n][2], s[n][3]),
                                  pack_bf16(s[n + 1][0], s[n + 1][1]), pack_bf16(s[n + 1][2], s[n + 1][3])};
#pragma unroll
      for (int d = 0; d < D; d += 16) {
        std::uint32_t v[4];
        b_fragment_transposed<D>(v, shared.v, d, n * 8);
        multiply_pair(o_[d / 8], o_[d / 8 + 1], e, v);
      }
    }
  }

  __device__ void store(const AttentionForward& a, Shared<D, kWarps, kKeys>& shared, int head) {
    const std::int64_t C = static_cast<std::int64_t>(a.H) * D;
    const int lane = lane_of_thread(), left = s_.length - first_;
    bf16* const o = static_cast<bf16*>(a.o) + (s_.first + first_) * C + head * D;
    store_rows<D, D>(o, C, o_, dropout_.scale() / sum_[0], dropout_.scale() / sum_[1], shared.q, row_, 0,
                     left);
    if (lane % 4 != 0) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row_ + lane / 4 + half * 8;
      if (row < left) a.lse[(s_.first + first_ + row) * a.H + head] = max_[half] + logf(sum_[half]);
    }
  }

 private:
  static __device__ float minus_infinity() {
    return __uint_as_float(0xff800000u);
  }

  __device__ void clear() {
    max_[0] = max_[1] = minus_infinity();
    sum_[0] = sum_[1] = 0;
#pragma unroll
    for (int n = 0; n < D / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) o_[n][i] = 0;
    }
  }
  __device__ void drop(float (&low)[4], float (&high)[4], int key) const {
    const Philox4 numbers = dropout_.numbers(first_ + row_, key);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (!dropout_.keeps(numbers, i)) low[i] = 0;
      if (!dropout_.keeps(numbers, 4 + i)) high[i] = 0;
    }
  }

  const Sequence& s_;
  AttentionDropout dropout_;
  int first_, row_;
  float max_[2], sum_[2], o_[D / 8][4];
};

template <int D, int kWarps, int kKeys, int kList>
__global__ void __launch_bounds__(kWarps* kWarp, 2) attention_forward_kernel(AttentionForward a) {
  using Tiles = Shared<D, kWarps, kKeys>;
  SHOAL_DYNAMIC_SHARED(Tiles, shared);
  if (static_cast<int>(blockIdx.x) >= a.seqs.item_count[kList]) return;
  const Sequence s = sequence_of(a.seqs, a.rows, kList, static_cast<int>(blockIdx.x));
  const int head = static_cast<int>(blockIdx.y), C = a.H * D;
  const std::int64_t ld = 3 * static_cast<std::int64_t>(C);
  const bf16* const qkv = static_cast<const bf16*>(a.qkv) + s.first * ld + head * D;
  const float scale = 1.0f / sqrtf(static_cast<float>(D));
  constexpr int kQueries = kWarps * 16;
  for (int first = static_cast<int>(blockIdx.z) * kQueries; first < s.length;
       first += static_cast<int>(gridDim.z) * kQueries) {
    bring_rows<D>(shared.q, qkv + first * ld, ld, kQueries, s.length - first);
    QueryRows<D, kWarps, kKeys> queries(a, s, head, first);
    for (int key = 0; key < s.length; key += kKeys) {
      bring_rows<D>(shared.k, qkv + C + key * ld, ld, kKeys, s.length - key);
      bring_rows<D>(shared.v, qkv + 2 * C + key * ld, ld, kKeys, s.length - key);
      copy_async_commit();
      copy_async_wait<0>();
      __syncthreads();
      if (queries.here()) queries.add_keys(shared, key, scale);
      __syncthreads();
    }
    if (queries.here()) queries.store(a, shared, head);
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kTailThreads) attention_forward_kernel_tail(AttentionForward a) {
  zero_tail_rows(a.o, a.H * a.D, a.rows);
}

template <int D, int kWarps, int kKeys, int kList>
void launch_list(const AttentionForward& a, unsigned query_blocks, Stream stream) {
  const unsigned items = items_of_list(a.seqs, a.rows, kList);
  if (items == 0) return;
  launch<attention_forward_kernel<D, kWarps, kKeys, kList>>(
      {.name = "attention_forward",
       .grid = dim3(items, static_cast<unsigned>(a.H), query_blocks),
       .block = dim3(kWarps * kWarp),
       .shared = sizeof(Shared<D, kWarps, kKeys>),
       .stream = stream},
      a);
}

template <int D>
void launch_lists(const AttentionForward& a, Stream stream) {
  launch_list<D, 2, 32, 0>(a, 1, stream);
  launch_list<D, 4, 64, 1>(a, 1, stream);
  constexpr int kKeys = D > 64 ? 64 : 128;  // what the registers hold
  launch_list<D, 4, kKeys, 2>(a, 2, stream);
  launch_list<D, 4, kKeys, 3>(a, kQueryBlocks, stream);
}

}  // namespace

void attention_forward(const AttentionForward& a, Stream stream) {
  check(a);
  require_bf16("attention_forward", a.dtype);
  launch<attention_forward_kernel_tail>({.name = "attention_forward",
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
