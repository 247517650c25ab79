// The same products by either tensor-core instruction, k ascending in one accumulator, for their bits.
// A problem: a [64,K], b [256,K] bf16, c and d [64,256] f32, d = a b^T + c; K a multiple of 16, at most 64 or
// a multiple of 64.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace shoal::probe {

struct RoundingProblems {
  float* d = nullptr;
  const std::uint16_t *a = nullptr, *b = nullptr;  // bf16 bits
  const float* c = nullptr;
  int K = 0, problems = 0;
};
constexpr int kProblemRows = 64, kProblemColumns = 256;

void multiply_by_mma_sync(const RoundingProblems& p, cudaStream_t stream);
void multiply_by_wgmma(const RoundingProblems& p, cudaStream_t stream);  // compute 9.0 only

}  // namespace shoal::probe
