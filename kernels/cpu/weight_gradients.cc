// linear_backward_weight_group on the CPU.
//
// fp32: oneDNN's sgemm per fixed tile of dw, straight into the gradient. bf16: both operands have their
// rows along k, so they are packed first, each once for the whole lane, chunk by chunk of the slot's rows;
// then every tile of dw is a product of packed stripes.
#include "kernels/weight_gradients.h"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "kernels/base/error.h"
#include "kernels/cpu/bf16_tiles.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vec.h"

namespace shoal::cpu {
namespace {

constexpr std::int64_t kChunk = 4096;  // rows of one sum before it meets f32 memory
constexpr int kTileN = 192;            // fp32: a tile of dw
constexpr int kTileKF32 = 384;
constexpr int kTileBf16 = 128;  // bf16: a tile of dw, and the columns packed at once
constexpr int kSumColumns = 64;

// The gradient of entry w, or null where nothing is to be done.
float* gradient(const Grad& g, const Rows& rows, int w) {
  if (g.base == nullptr || g.mode[w] == GradMode::kSkip) return nullptr;
  if (g.mode[w] == GradMode::kAdd && rows.live[w] == 0) return nullptr;
  return g.base + rows.slot[w] * g.stride;
}

void zero_block(float* to, std::int64_t ld, std::int64_t m, std::int64_t n) {
  for (std::int64_t i = 0; i < m; ++i)
    std::memset(to + i * ld, 0, static_cast<std::size_t>(n) * sizeof(float));
}

void weights_f32(const WeightGradientItem& a, Context& context) {
  const std::int64_t row_tiles = tiles_of(a.N, kTileN), column_tiles = tiles_of(a.K, kTileKF32);
#pragma omp parallel num_threads(context.threads)
  {
    const OneThread one;
#pragma omp for schedule(dynamic)
    for (std::int64_t item = 0; item < a.rows.W * row_tiles * column_tiles; ++item) {
      const int w = static_cast<int>(item / (row_tiles * column_tiles));
      const std::int64_t i = item / column_tiles % row_tiles * kTileN, j = item % column_tiles * kTileKF32;
      const std::int64_t m = std::min<std::int64_t>(kTileN, a.N - i),
                         n = std::min<std::int64_t>(kTileKF32, a.K - j);
      float* const dw = gradient(a.dw, a.rows, w);
      if (dw == nullptr) continue;
      const std::int64_t live = a.rows.live[w];
      bool add = a.dw.mode[w] == GradMode::kAdd;
      if (live == 0) zero_block(dw + i * a.K + j, a.K, m, n);
      for (std::int64_t first = 0; first < live; first += kChunk, add = true) {
        const std::int64_t row = a.rows.row0[w] + first;
        multiply_f32(dw + i * a.K + j, a.K, static_cast<const float*>(a.dy) + row * a.N + i, a.N, true,
                     static_cast<const float*>(a.x) + row * a.K + j, a.K, false, m, n,
                     std::min(kChunk, live - first), add ? 1.0f : 0.0f);
      }
    }
  }
}

// db of some columns of entry w: column sums of dy over its live rows.
template <typename T>
void bias(const WeightGradientItem& a, int w, std::int64_t column, std::int64_t columns) {
  float* const db = gradient(a.db, a.rows, w);
  if (db == nullptr) return;
  const bool add = a.db.mode[w] == GradMode::kAdd;
  const std::int64_t live = a.rows.live[w];
  for (std::int64_t end = column + columns; column < end; column += kSumColumns) {
    const std::int64_t n = std::min<std::int64_t>(kSumColumns, end - column);
    const T* const dy = static_cast<const T*>(a.dy) + a.rows.row0[w] * std::int64_t{a.N} + column;
    float total[kSumColumns] = {};
    for (std::int64_t first = 0; first < live; first += kRowChunk) {
      float sum[kSumColumns] = {};
      for (std::int64_t r = first; r < std::min(live, first + kRowChunk); ++r) {
        for (std::int64_t j = 0; j < n; j += kLanes)
          store16(sum + j, load16(sum + j) + load16(dy + r * a.N + j));
      }
      for (std::int64_t j = 0; j < n; ++j) total[j] += sum[j];
    }
    for (std::int64_t j = 0; j < n; ++j) db[column + j] = add ? db[column + j] + total[j] : total[j];
  }
}

template <typename T>
void biases(const WeightGradientItem& a, const Context& context) {
  const std::int64_t tiles = tiles_of(a.N, kSumColumns);
#pragma omp parallel for num_threads(context.threads) schedule(dynamic)
  for (std::int64_t item = 0; item < a.rows.W * tiles; ++item) {
    const std::int64_t column = item % tiles * kSumColumns;
    bias<T>(a, static_cast<int>(item / tiles), column, std::min<std::int64_t>(kSumColumns, a.N - column));
  }
}

// dy and x of the lane, packed: chunk of entry w that starts at lane row r at (r * columns).
struct Packed {
  bf16* dy = nullptr;
  bf16* x = nullptr;
};

// Packs, and sums the bias's gradient while dy is in the cache.
void pack(const WeightGradientItem& a, const Packed& to, const Context& context, std::int64_t chunks) {
  const std::int64_t n_tiles = tiles_of(a.N, kTileBf16), tiles = n_tiles + tiles_of(a.K, kTileBf16);
#pragma omp parallel for num_threads(context.threads) schedule(dynamic)
  for (std::int64_t item = 0; item < a.rows.W * chunks * tiles; ++item) {
    const int w = static_cast<int>(item / (chunks * tiles));
    const std::int64_t first = item / tiles % chunks * kChunk, tile = item % tiles;
    const bool is_dy = tile < n_tiles;
    const std::int64_t columns = is_dy ? a.N : a.K, column = (is_dy ? tile : tile - n_tiles) * kTileBf16;
    const std::int64_t n = std::min<std::int64_t>(kTileBf16, columns - column);
    if (first < a.rows.live[w] && gradient(a.dw, a.rows, w) != nullptr) {
      const std::int64_t k = std::min(kChunk, ceil16(a.rows.live[w] - first)), row = a.rows.row0[w] + first;
      const bf16* const from = static_cast<const bf16*>(is_dy ? a.dy : a.x) + row * columns + column;
      bf16* const at = (is_dy ? to.dy : to.x) + row * columns + packed_elements(column, k);
      is_dy ? pack_a_transposed(at, from, columns, n, k) : pack_b(at, from, columns, n, k);
    }
    if (is_dy && first == 0) bias<bf16>(a, w, column, n);
  }
}

// dw and db.
void weights_bf16(const WeightGradientItem& a, Context& context) {
  require(context.bf16_unit != Bf16Unit::kNone, "cpu: bf16 needs AVX512-BF16 or AMX, which this CPU lacks");
  std::int64_t end = 0, chunks = 1;
  for (int w = 0; w < a.rows.W; ++w) {
    end = std::max(end, a.rows.row0[w] + ceil128(a.rows.live[w]));
    chunks = std::max(chunks, tiles_of(a.rows.live[w], kChunk));
  }
  bf16* const block = context.shared<bf16>(static_cast<std::size_t>(end * (a.N + a.K)));
  const Packed packed{block, block + end * a.N};
  pack(a, packed, context, chunks);
  constexpr std::int64_t kStrip = 2 * kTile;
  context.reserve(kStrip * kTileBf16 * sizeof(float));
  const std::int64_t row_tiles = tiles_of(a.N, kTileBf16), column_tiles = tiles_of(a.K, kTileBf16);
#pragma omp parallel for num_threads(context.threads) schedule(dynamic)
  for (std::int64_t item = 0; item < a.rows.W * row_tiles * column_tiles; ++item) {
    const int w = static_cast<int>(item / (row_tiles * column_tiles));
    const std::int64_t i0 = item / column_tiles % row_tiles * kTileBf16, j0 = item % column_tiles * kTileBf16;
    const std::int64_t m = std::min<std::int64_t>(kTileBf16, a.N - i0),
                       n = std::min<std::int64_t>(kTileBf16, a.K - j0);
    float* const dw = gradient(a.dw, a.rows, w);
    if (dw == nullptr) continue;
    const std::int64_t live = a.rows.live[w];
    if (live == 0) zero_block(dw + i0 * a.K + j0, a.K, m, n);
    float* const c = context.scratch<float>(omp_get_thread_num());
    const TileScope tiles(context.bf16_unit);
    bool add = a.dw.mode[w] == GradMode::kAdd;
    for (std::int64_t first = 0; first < live; first += kChunk, add = true) {
      const std::int64_t k = std::min(kChunk, ceil16(live - first)), row = a.rows.row0[w] + first;
      const bf16* const x = packed.x + row * a.K + packed_elements(j0, k);
      for (std::int64_t i = 0; i < m; i += kStrip) {
        const bf16* const dy = packed.dy + row * a.N + packed_elements(i0 + i, k);
        const std::int64_t strip = std::min(kStrip, m - i);
        float* const to = dw + (i0 + i) * a.K + j0;
        tiles.multiply(add ? c : to, add ? n : a.K, packed_tiles(dy, k), x, strip, n, k);
        for (std::int64_t r = 0; add && r < strip; ++r) {
          for (std::int64_t j = 0; j < n; j += kLanes) {
            store16(to + r * a.K + j, load16(to + r * a.K + j) + load16(c + r * n + j));
          }
        }
      }
    }
  }
}

// The second stage of a LayerNorm backward.
void norms(const NormGradientItem& a, const Context& context) {
  const Grad* const planes[3] = {&a.dgamma, &a.dbeta, &a.dbias};
#pragma omp parallel for num_threads(context.threads) schedule(static)
  for (int item = 0; item < a.rows.W * 3; ++item) {
    const int w = item / 3, plane = item % 3;
    float* const g = gradient(*planes[plane], a.rows, w);
    if (g == nullptr) continue;
    const std::int64_t begin = a.rows.row0[w] / kRowChunk, blocks = tiles_of(a.rows.live[w], kRowChunk);
    const bool add = planes[plane]->mode[w] == GradMode::kAdd;
    for (int c = 0; c < a.C; c += kTile) {
      float total[kTile] = {};
      for (std::int64_t b = begin; b < begin + blocks; ++b) {
        const float* const p = a.partial + (b * 3 + plane) * a.C + c;
        for (int j = 0; j < kTile; ++j) total[j] += p[j];
      }
      for (int j = 0; j < kTile; ++j) g[c + j] = add ? g[c + j] + total[j] : total[j];
    }
  }
}

}  // namespace

void linear_backward_weight_group(const LinearBackwardWeightGroup& a, Stream stream) {
  check(a);
  Context& ctx = context(stream);
  for (int i = 0; i < a.items; ++i) {
    const WeightGradientItem& item = a.item[i];
    if (a.dtype == DType::kF32) {
      if (item.dw.base != nullptr) weights_f32(item, ctx);
      biases<float>(item, ctx);
    } else if (item.dw.base != nullptr) {
      weights_bf16(item, ctx);
    } else {
      biases<bf16>(item, ctx);
    }
  }
  for (int i = 0; i < a.norms; ++i) norms(a.norm[i], ctx);
}

}  // namespace shoal::cpu
