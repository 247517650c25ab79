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

// Rows r of 16 dwords become columns, in place.
SHOAL_AVX512 inline void transpose(__m512i (&r)[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 8; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
  }
}

// A tile of 16 rows, `valid` of its 32 k; the rest zero.
SHOAL_AVX512 inline void load_rows(__m512i (&r)[16], const bf16* from, std::int64_t ld, std::int64_t valid) {
  const auto mask = static_cast<__mmask32>(valid >= kTileK ? ~0u : (1u << valid) - 1);
  for (int i = 0; i < 16; ++i) r[i] = _mm512_maskz_loadu_epi16(mask, from + i * ld);
}

// 32 rows of k (`valid` of them) by 16 columns as pairs: row p holds k = 2p, 2p + 1 of each column.
SHOAL_AVX512 inline void load_pairs(__m512i (&r)[16], const bf16* from, std::int64_t ld, std::int64_t valid) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7,
                                         22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  alignas(64) static constexpr bf16 kZeros[kTile] = {};
  for (int p = 0; p < 16; ++p) {
    const bf16* const even = 2 * p < valid ? from + 2 * p * ld : kZeros;
    const bf16* const odd = 2 * p + 1 < valid ? from + (2 * p + 1) * ld : kZeros;
    const __m512i both =
        _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(even))),
                           _mm256_loadu_si256(reinterpret_cast<const __m256i*>(odd)), 1);
    r[p] = _mm512_permutexvar_epi16(order, both);
  }
}

SHOAL_AVX512 inline void store_tile(bf16* to, const __m512i (&r)[16]) {
  for (int i = 0; i < 16; ++i) _mm512_store_si512(to + i * kTileK, r[i]);
}

}  // namespace

SHOAL_AVX512 void pack_a(bf16* to, const bf16* a, std::int64_t ld, std::int64_t n, std::int64_t k) {
  for (std::int64_t i = 0; i < n; i += kTile) {
    for (std::int64_t j = 0; j < k; j += kTileK, to += kTileElements) {
      __m512i r[16];
      load_rows(r, a + i * ld + j, ld, k - j);
      store_tile(to, r);
    }
  }
}

SHOAL_AVX512 void pack_a_transposed(bf16* to, const bf16* a, std::int64_t ld, std::int64_t n, std::int64_t k) {
  const std::int64_t stripe = k_tiles(k) * kTileElements;
  for (std::int64_t j = 0; j < k; j += kTileK, to += kTileElements) {  // outside: rows are read whole
    for (std::int64_t i = 0; i < n; i += kTile) {
      __m512i r[16];
      load_pairs(r, a + j * ld + i, ld, k - j);
      transpose(r);
      store_tile(to + i / kTile * stripe, r);
    }
  }
}

SHOAL_AVX512 void pack_b(bf16* to, const bf16* b, std::int64_t ld, std::int64_t n, std::int64_t k) {
  const std::int64_t stripe = k_tiles(k) * kTileElements;
  for (std::int64_t j = 0; j < k; j += kTileK, to += kTileElements) {  // outside: rows are read whole
    for (std::int64_t i = 0; i < n; i += kTile) {
      __m512i r[16];
      load_pairs(r, b + j * ld + i, ld, k - j);
      store_tile(to + i / kTile * stripe, r);
    }
  }
}

SHOAL_AVX512 void pack_b_transposed(bf16* to, const bf16* b, std::int64_t ld, std::int64_t n, std::int64_t k) {
  for (std::int64_t i = 0; i < n; i += kTile) {
    for (std::int64_t j = 0; j < k; j += kTileK, to += kTileElements) {
      __m512i r[16];
      load_rows(r, b + i * ld + j, ld, k - j);
      transpose(r);
      store_tile(to, r);
    }
  }
}

namespace {

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
      for (int j = 0; j < N; ++j) sum[i][j] = add ? _mm512_loadu_ps(c0 + i * ldc + j * kTile) : _mm512_setzero_ps();
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

using MultiplyTiles = void (*)(float*, std::int64_t, const TilesA&, const bf16*, std::int64_t, std::int64_t, bool);
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

SHOAL_AMX void load_tile_config() { _tile_loadconfig(&kTileConfig); }

SHOAL_AMX void release_tiles() { _tile_release(); }

}  // namespace

TileScope::TileScope(Bf16Unit unit) : unit_(unit) {
  if (unit_ == Bf16Unit::kAmx) load_tile_config();
}

TileScope::~TileScope() {
  if (unit_ == Bf16Unit::kAmx) release_tiles();
}

void TileScope::multiply(float* c, std::int64_t ldc, const TilesA& a, const bf16* b, std::int64_t m,
                         std::int64_t n, std::int64_t k) const {
  const auto& kernels = unit_ == Bf16Unit::kAmx ? kAmx : kAvx512;
  const std::int64_t steps = k_tiles(k), b_stripe = steps * kTileElements;
  for (std::int64_t i = 0; i < m; i += 2 * kTile) {
    for (std::int64_t s = 0; s < steps; s += kBlock) {
      TilesA part = a;
      part.base += i / kTile * a.stripe + s * a.step;
      for (std::int64_t j = 0; j < n; j += 2 * kTile) {
        kernels[m - i > kTile][n - j > kTile](c + i * ldc + j, ldc, part,
                                              b + j / kTile * b_stripe + s * kTileElements, b_stripe,
                                              std::min(kBlock, steps - s), s > 0);
      }
    }
  }
}

#else  // no unit for bf16: the device does not offer it

void pack_a(bf16*, const bf16*, std::int64_t, std::int64_t, std::int64_t) {}
void pack_a_transposed(bf16*, const bf16*, std::int64_t, std::int64_t, std::int64_t) {}
void pack_b(bf16*, const bf16*, std::int64_t, std::int64_t, std::int64_t) {}
void pack_b_transposed(bf16*, const bf16*, std::int64_t, std::int64_t, std::int64_t) {}
TileScope::TileScope(Bf16Unit unit) : unit_(unit) {}
TileScope::~TileScope() = default;
void TileScope::multiply(float*, std::int64_t, const TilesA&, const bf16*, std::int64_t, std::int64_t,
                         std::int64_t) const {}

#endif

}  // namespace shoal::cpu
