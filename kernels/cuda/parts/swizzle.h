// Tiles of bf16 in shared memory, 64 elements (128 bytes) a row, whose 16-byte chunks are permuted so that
// neither a row nor a column of eight chunks meets a bank twice: ldmatrix and cp.async both run without
// conflicts.
#pragma once

#include <ptx/cuda.h>

#include "kernels/base/dtype.h"

namespace shoal::SHOAL_TARGET {

constexpr int kTileColumns = 64;
constexpr int kChunk = 8;  // elements of 16 bytes
constexpr int kRowChunks = kTileColumns / kChunk;

// Chunk `chunk` (0 .. 8) of row `row`.
__device__ __forceinline__ bf16* tile_chunk(bf16* tile, int row, int chunk) {
  return tile + row * kTileColumns + (chunk ^ (row & 7)) * kChunk;
}

// The same, of a row whose row & 7 is known to be `key`: what is constant over a loop stays so.
__device__ __forceinline__ bf16* tile_chunk(bf16* tile, int row, int chunk, int key) {
  return tile + row * kTileColumns + (chunk ^ key) * kChunk;
}

}  // namespace shoal::SHOAL_TARGET
