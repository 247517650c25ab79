#include "kernels/cpu/bf16_tiles.h"

#include <algorithm>
#include <cstring>

#include "kernels/base/error.h"

#if defined(__x86_64__)
// GCC's own headers initialise "undefined" registers with themselves and warn about it.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#endif

namespace shoal::cpu {

#if defined(__x86_64__)

// Compiled for their units whatever the rest is tuned for; TileScope is made with a unit the CPU has.
#define SHOAL_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))
#define SHOAL_AMX __attribute__((target("avx512f,amx-tile,amx-bf16")))

namespace {

constexpr std::int64_t kBlock = 16;  // steps of k that stay in the first cache between stripes

// c [16 M, 16 N] (=, or += if `add`): M, N in {1, 2} tiles, `steps` of k.
template <int M, int N>
SHOAL_AMX void multiply_amx(float* c, std::int64_t ldc, const TilesA& a, const bf16* b, std::int64_t b_stripe,
                            std::int64_t steps, bool add) {
  const std::int64_t c_row = ldc * 4, a_row = a.row * 2;
  float* const c1 = c + kTile * ldc;
  if (add) {
    _tile_loadd(0, c, c_row);
    if constexpr (N == 2) _tile_loadd(1, c + kTile, c_row);
    if constexpr (M == 2) _tile_loadd(2, c1, c_row);
    if constexpr (M == 2 && N == 2) _tile_loadd(3, c1 + kTile, c_row);
  } else {
    _tile_zero(0);
    if constexpr (N == 2) _tile_zero(1);
    if constexpr (M == 2) _tile_zero(2);
    if constexpr (M == 2 && N == 2) _tile_zero(3);
  }
  for (std::int64_t s = 0; s < steps; ++s) {
    const bf16* const a0 = a.base + s * a.step;
    const bf16* const b0 = b + s * kTileElements;
    _tile_loadd(6, b0, 64);
    _tile_loadd(4, a0, a_row);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (N == 2) {
      _tile_loadd(7, b0 + b_stripe, 64);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (M == 2) {
      _tile_loadd(5, a0 + a.stripe, a_row);
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (M == 2 && N == 2) _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, c_row);
  if constexpr (N == 2) _tile_stored(1, c + kTile, c_row);
  if constexpr (M == 2) _tile_stored(2, c1, c_row);
  if constexpr (M == 2 && N == 2) _tile_stored(3, c1 + kTile, c_row);
}

// The same by dot products of pairs: eight rows at a time.
template <int M, int N>
SHOAL_AVX512 void multiply_avx512(float* c, std::int64_t ldc, const TilesA& a, const bf16* b,
                                  std::int64_t b_stripe, std::int64_t steps, bool add) {
  constexpr int kRows = 8;
  for (int r = 0; r < kTile * M; r += kRows) {
    const bf16* const a0 = a.base + r / kTile * a.stripe + r % kTile * a.row;
    float* const c0 = c + r * ldc;
    __m512 sum[kRows][N];
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < N; ++j)
        sum[i][j] = add ? _mm512_loadu_ps(c0 + i * ldc + j * kTile) : _mm512_setzero_ps();
    }
    for (std::int64_t s = 0; s < steps; ++s) {
      for (int p = 0; p < kTileK / 2; ++p) {
        __m512bh pairs[N];
        for (int j = 0; j < N; ++j) {
          pairs[j] = (__m512bh)_mm512_load_si512(b + j * b_stripe + s * kTileElements + p * kTileK);
        }
        for (int i = 0; i < kRows; ++i) {
          std::int32_t pair;
          std::memcpy(&pair, a0 + s * a.step + i * a.row + 2 * p, sizeof pair);
          for (int j = 0; j < N; ++j) {
            sum[i][j] = _mm512_dpbf16_ps(sum[i][j], (__m512bh)_mm512_set1_epi32(pair), pairs[j]);
          }
        }
      }
    }
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < N; ++j) _mm512_storeu_ps(c0 + i * ldc + j * kTile, sum[i][j]);
    }
  }
}

using MultiplyTiles = void (*)(float*, std::int64_t, const TilesA&, const bf16*, std::int64_t, std::int64_t,
                               bool);
constexpr MultiplyTiles kAmx[2][2] = {{multiply_amx<1, 1>, multiply_amx<1, 2>},
                                      {multiply_amx<2, 1>, multiply_amx<2, 2>}};
constexpr MultiplyTiles kAvx512[2][2] = {{multiply_avx512<1, 1>, multiply_avx512<1, 2>},
                                         {multiply_avx512<2, 1>, multiply_avx512<2, 2>}};

struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
// Static: GCC tells the optimiser of the first eight bytes alone that the instruction reads.
constexpr TileConfig kTileConfig;

SHOAL_AMX void load_tile_config() {
  _tile_loadconfig(&kTileConfig);
}

SHOAL_AMX void release_tiles() {
  _tile_release();
}

}  // namespace

TileScope::TileScope(Bf16Unit unit) : unit_(unit) {
  if (unit_ == Bf16Unit::kAmx) load_tile_config();
}

TileScope::~TileScope() {
  if (unit_ == Bf16Unit::kAmx) release_tiles();
}

void TileScope::multiply(float* c, std::int64_t ldc, const TilesA& a, const bf16* b, std::int64_t m,
                         std::int64_t n, std::int64_t k, bool add) const {
  const auto& kernels = unit_ == Bf16Unit::kAmx ? kAmx : kAvx512;
  const std::int64_t steps = k_tiles(k), b_stripe = steps * kTileElements;
  for (std::int64_t i = 0; i < m; i += 2 * kTile) {
    for (std::int64_t s = 0; s < steps; s += kBlock) {
      TilesA part = a;
      part.base += i / kTile * a.stripe + s * a.step;
      for (std::int64_t j = 0; j < n; j += 2 * kTile) {
        kernels[m - i > kTile][n - j > kTile](c + i * ldc + j, ldc, part,
                                              b + j / kTile * b_stripe + s * kTileElements, b_stripe,
                                              std::min(kBlock, steps - s), add || s > 0);
      }
    }
  }
}

#else  // no unit for bf16: the device does not offer it

TileScope::TileScope(Bf16Unit unit) : unit_(unit) {}
TileScope::~TileScope() = default;
void TileScope::multiply(float*, std::int64_t, const TilesA&, const bf16*, std::int64_t, std::int64_t,
                         std::int64_t, bool) const {}

#endif

}  // namespace shoal::cpu
