#include "kernels/cpu/bf16_tiles.h"

#if defined(__x86_64__)
// GCC's own headers initialise "undefined" registers with themselves and warn about it.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#endif

namespace shoal::cpu {

#if defined(__x86_64__)

// Compiled for its unit whatever the rest is tuned for.
#define SHOAL_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))

namespace {

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

// A tile of 16 rows (`rows` of them) and 32 k (`valid` of them); the rest zero.
SHOAL_AVX512 inline void load_rows(__m512i (&r)[16], const bf16* from, std::int64_t ld, std::int64_t rows,
                                   std::int64_t valid) {
  const auto mask = static_cast<__mmask32>(valid >= kTileK ? ~0u : (1u << valid) - 1);
  for (int i = 0; i < 16; ++i) r[i] = _mm512_maskz_loadu_epi16(i < rows ? mask : 0, from + i * ld);
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
      load_rows(r, a + i * ld + j, ld, n - i, k - j);
      store_tile(to, r);
    }
  }
}

SHOAL_AVX512 void pack_a_transposed(bf16* to, const bf16* a, std::int64_t ld, std::int64_t n,
                                    std::int64_t k) {
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

SHOAL_AVX512 void pack_b_transposed(bf16* to, const bf16* b, std::int64_t ld, std::int64_t n,
                                    std::int64_t k) {
  for (std::int64_t i = 0; i < n; i += kTile) {
    for (std::int64_t j = 0; j < k; j += kTileK, to += kTileElements) {
      __m512i r[16];
      load_rows(r, b + i * ld + j, ld, n - i, k - j);
      transpose(r);
      store_tile(to, r);
    }
  }
}

#else  // no unit for bf16: the device does not offer it

void pack_a(bf16*, const bf16*, std::int64_t, std::int64_t, std::int64_t) {}
void pack_a_transposed(bf16*, const bf16*, std::int64_t, std::int64_t, std::int64_t) {}
void pack_b(bf16*, const bf16*, std::int64_t, std::int64_t, std::int64_t) {}
void pack_b_transposed(bf16*, const bf16*, std::int64_t, std::int64_t, std::int64_t) {}

#endif

}  // namespace shoal::cpu
