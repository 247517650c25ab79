// What the attention kernels share: where a sequence stands, its tiles in shared memory, their fragments, and
// dropout's numbers for a fragment.
//
// A tile holds rows of D columns (or of keys), 16-byte chunks permuted so that eight rows of one chunk lie in
// different banks. Rows beyond the sequence are zeros that nobody read.
#pragma once

#include <ptx/async_copy.h>

#include "kernels/attention.h"
#include "kernels/base/philox.h"
#include "kernels/cuda/parts/rows.h"
#include "kernels/cuda/parts/vector8.h"
#include "kernels/cuda/parts/warp.h"

namespace shoal::SHOAL_TARGET {

template <int kColumns>
__device__ __forceinline__ bf16* chunk_of(bf16* tile, int row, int chunk) {
  constexpr int kChunks = kColumns / 8, kRowsOfLine = kChunks < 8 ? 8 / kChunks : 1;
  constexpr int kKeys = kChunks < 8 ? kChunks : 8;
  return tile + row * kColumns + (chunk ^ (row / kRowsOfLine % kKeys)) * 8;
}

// Rows 0 .. rows of a tile from rows of `ld` elements at `from`, of which `valid` (at least one) are there.
template <int kColumns>
__device__ __forceinline__ void bring_rows(bf16* tile, const bf16* from, std::int64_t ld, int rows,
                                           int valid) {
  constexpr int kChunks = kColumns / 8;
  for (int i = static_cast<int>(threadIdx.x); i < rows * kChunks; i += static_cast<int>(blockDim.x)) {
    const int row = i / kChunks, chunk = i % kChunks;
    copy_async_16(chunk_of<kColumns>(tile, row, chunk), row < valid ? from + row * ld + chunk * 8 : from,
                  row < valid);
  }
}

__device__ __forceinline__ int lane_of_thread() {
  return static_cast<int>(threadIdx.x) % kWarp;
}

// Fragments: of a at rows `row` .. + 16 and columns k .. + 16; of b for the outputs `row` .. + 16 (two tiles
// of eight), its k in columns; and the same where k runs along the rows.
template <int kColumns>
__device__ __forceinline__ void a_fragment(std::uint32_t (&a)[4], bf16* tile, int row, int k) {
  const int lane = lane_of_thread();
  ldmatrix_x4(a, chunk_of<kColumns>(tile, row + (lane & 15), k / 8 + (lane >> 4)));
}
template <int kColumns>
__device__ __forceinline__ void a_fragment_transposed(std::uint32_t (&a)[4], bf16* tile, int column, int k) {
  const int lane = lane_of_thread();
  ldmatrix_x4_trans(a,
                    chunk_of<kColumns>(tile, k + (lane & 7) + (lane >> 4) * 8, column / 8 + (lane >> 3 & 1)));
}
template <int kColumns>
__device__ __forceinline__ void b_fragment(std::uint32_t (&b)[4], bf16* tile, int row, int k) {
  const int lane = lane_of_thread();
  ldmatrix_x4(b, chunk_of<kColumns>(tile, row + (lane & 7) + (lane >> 4) * 8, k / 8 + (lane >> 3 & 1)));
}
template <int kColumns>
__device__ __forceinline__ void b_fragment_transposed(std::uint32_t (&b)[4], bf16* tile, int column, int k) {
  const int lane = lane_of_thread();
  ldmatrix_x4_trans(b, chunk_of<kColumns>(tile, k + (lane & 15), column / 8 + (lane >> 4)));
}

// c of 16 rows and 16 columns += a b.
__device__ __forceinline__ void multiply_pair(float (&low)[4], float (&high)[4], const std::uint32_t (&a)[4],
                                              const std::uint32_t (&b)[4]) {
  mma_m16n8k16(low, a, b[0], b[1]);
  mma_m16n8k16(high, a, b[2], b[3]);
}

// 16 rows of `x` (from `row`) times the rows of `y`, both of kColumns: c[n] for y's rows 8 n .. 8 n + 8.
template <int kColumns, int kRowsOfY>
__device__ __forceinline__ void multiply_rows(float (&c)[kRowsOfY / 8][4], bf16* x, int row, bf16* y,
                                              int rows_of_y) {
#pragma unroll
  for (int n = 0; n < kRowsOfY / 8; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) c[n][i] = 0;
  }
#pragma unroll
  for (int k = 0; k < kColumns; k += 16) {
    std::uint32_t a[4];
    a_fragment<kColumns>(a, x, row, k);
#pragma unroll
    for (int n = 0; n < kRowsOfY; n += 16) {
      if (n >= rows_of_y) continue;
      std::uint32_t b[4];
      b_fragment<kColumns>(b, y, n, k);
      multiply_pair(c[n / 8], c[n / 8 + 1], a, b);
    }
  }
}

struct Sequence {
  int w;
  int seq;
  int length;
  std::int64_t first;  // lane row
};

__device__ __forceinline__ Sequence sequence_of(const Seqs& seqs, const Rows& rows, int list, int item) {
  const SeqItem at = seqs.items[list][item];
  const std::int32_t* const cu = seqs.cu + static_cast<std::int64_t>(at.w) * (seqs.B + 1) + at.seq;
  SHOAL_DEVICE_CHECK(at.w >= 0 && at.w < rows.W && at.seq >= 0 && at.seq < seqs.count[at.w] && cu[1] > cu[0]);
  SHOAL_DEVICE_CHECK(cu[1] <= rows.live[at.w]);
  return {at.w, at.seq, cu[1] - cu[0], rows.row0[at.w] + cu[0]};
}

// How many sequences a list can hold: capacity of the list, and of the lane's rows at its shortest length.
inline unsigned items_of_list(const Seqs& seqs, const Rows& rows, int list) {
  const std::int64_t shortest = list == 0 ? 1 : list == 1 ? 33 : list == 2 ? 65 : 129;
  const std::int64_t capacity = std::int64_t{rows.W} * seqs.B, fitting = rows.rows / shortest;
  return static_cast<unsigned>(capacity < fitting ? capacity : fitting);
}

// philox.h's attention table: one call is the eight elements that a lane holds of a 16 x 16 block, which are
// its elements of two neighbouring mma tiles, in their order.
class AttentionDropout {
 public:
  __device__ AttentionDropout(const Drop& drop, const Sequence& s, int head) {
    if (drop.seed == nullptr) return;
    threshold_ = drop.threshold[s.w];
    if (threshold_ == 65536u) return;
    key_ = drop.seed[s.w];
    update_ = static_cast<std::uint32_t>(drop.update[s.w]);
    micro_site_ = static_cast<std::uint32_t>(drop.micro[s.w]) << 16 | drop.site;
    where_ = static_cast<std::uint32_t>(s.seq) << 16 | static_cast<std::uint32_t>(head) << 8 |
             static_cast<std::uint32_t>(lane_of_thread());
    scale_ = 65536.0f / static_cast<float>(threshold_);
  }
  __device__ bool active() const { return threshold_ != 65536u; }
  __device__ float scale() const { return scale_; }
  // The block of queries i .. i + 16 and keys j .. j + 16.
  __device__ Philox4 numbers(int i, int j) const {
    return philox4x32_10(key_, update_, micro_site_, where_,
                         static_cast<std::uint32_t>(i >> 4) << 16 | static_cast<std::uint32_t>(j >> 4));
  }
  __device__ bool keeps(const Philox4& numbers, int element) const {
    return philox_u16(numbers, element) < threshold_;
  }

 private:
  std::uint32_t threshold_ = 65536;
  std::uint64_t key_ = 0;
  std::uint32_t update_ = 0, micro_site_ = 0, where_ = 0;
  float scale_ = 1;
};

// 16 rows (from `row`) and kCount columns (from `column`), each half of the rows times its factor, rounded,
// to rows of `ld` at `to`, of which `valid` are there. The way leads through that part of `tile`, which
// nobody else reads any more.
template <int kColumns, int kCount>
__device__ __forceinline__ void store_rows(bf16* to, std::int64_t ld, const float (&c)[kCount / 8][4],
                                           float low, float high, bf16* tile, int row, int column,
                                           int valid) {
  constexpr int kChunks = kCount / 8;
  const int lane = lane_of_thread(), first = column / 8;
  __syncwarp();
#pragma unroll
  for (int n = 0; n < kChunks; ++n) {
    *reinterpret_cast<std::uint32_t*>(chunk_of<kColumns>(tile, row + lane / 4, first + n) + lane % 4 * 2) =
        pack_bf16(c[n][0] * low, c[n][1] * low);
    *reinterpret_cast<std::uint32_t*>(chunk_of<kColumns>(tile, row + lane / 4 + 8, first + n) +
                                      lane % 4 * 2) = pack_bf16(c[n][2] * high, c[n][3] * high);
  }
  __syncwarp();
#pragma unroll
  for (int i = lane; i < 16 * kChunks; i += kWarp) {
    const int r = row + i / kChunks, chunk = first + i % kChunks;
    if (r < valid) {
      *reinterpret_cast<uint4*>(to + r * ld + chunk * 8) =
          *reinterpret_cast<const uint4*>(chunk_of<kColumns>(tile, r, chunk));
    }
  }
}

// The tail rule for what attention writes: rows live .. ceil128(live) of all entries.
constexpr int kTailThreads = 256;
__device__ __forceinline__ void zero_tail_rows(void* base, int columns, const Rows& rows) {
  const RunOfRows run = run_of_rows(rows, static_cast<std::int64_t>(blockIdx.x) * kRowAlign, kRowAlign);
  const int chunks = columns / 8;
  for (int i = run.live * chunks + static_cast<int>(threadIdx.x); i < run.tail * chunks; i += kTailThreads) {
    store8_zeros(row_of<bf16>(base, run.first + i / chunks, columns) + i % chunks * 8);
  }
}

}  // namespace shoal::SHOAL_TARGET
