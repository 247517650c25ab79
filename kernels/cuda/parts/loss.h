// What the ops that end in a loss share: a warp a row, then each entry's loss from its row losses.
#pragma once

#include "kernels/cuda/parts/rows.h"
#include "kernels/cuda/parts/warp.h"

namespace shoal::SHOAL_TARGET {

constexpr int kLossThreads = 256;
constexpr int kLossRows = kLossThreads / kWarp;  // of a block

// row.operator()(a, w, lane row, lane): the row's loss in all lanes; it writes the columns of dlogits.
template <typename Loss, typename Row>
__device__ __forceinline__ void row_losses(const Loss& a, const Row& row) {
  const RunOfRows run = run_of_rows(a.rows, static_cast<std::int64_t>(blockIdx.x) * kLossRows, kLossRows);
  const int own = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t at = run.first + own;
  if (own >= run.tail) return;
  if (own < run.live) {
    const float loss = row(a, run.w, at, lane);
    if (lane == 0) a.row_loss[at] = loss;
  } else if (a.dlogits != nullptr) {
    for (int k = lane; k < a.ld; k += kWarp) a.dlogits[at * a.ld + k] = 0;
  }
}

// loss[w], one warp: in double, rows within a chunk of kRowChunk in a fixed tree, chunks ascending.
template <typename Loss>
__device__ __forceinline__ void entry_loss(const Loss& a) {
  const int w = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x), live = a.rows.live[w];
  const float* const losses = a.row_loss + a.rows.row0[w];
  double loss = 0;
  for (int first = 0; first < live; first += kRowChunk) {
    double chunk = 0;
    for (int row = first + lane; row < min(first + kRowChunk, live); row += kWarp) {
      chunk += static_cast<double>(losses[row]);
    }
    __syncwarp();
    for (int apart = kWarp / 2; apart > 0; apart /= 2) chunk += __shfl_xor_sync(kFullWarp, chunk, apart);
    loss += chunk;
  }
  if (lane == 0) a.loss[w] = live > 0 ? static_cast<float>(static_cast<double>(a.inv_items[w]) * loss) : 0.0f;
}

}  // namespace shoal::SHOAL_TARGET
