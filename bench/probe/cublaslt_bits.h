// Does replica 0 of a cuBLASLt product keep its bits, whatever lies beside it? (CUDA_NOTES 1.5)
#pragma once

#include "bench/probe/cublaslt.h"
#include "bench/probe/part.h"

namespace shoal::probe {

// Operands and results of all products, large enough for the largest batch; a and b hold random data between
// the questions, which change and restore them.
class LtArena {
 public:
  LtArena();
  void refill(std::int64_t a_elements, std::int64_t b_elements) const;

  DeviceMemory a, b, d, reference, workspace;
};

// Over batch 1, 4, 16 and random, NaN and idle neighbours, with the algorithm pinned at batch 1.
Measure bits_over_batches(const LtLibrary& lt, const LtArena& arena, const GemmRole& role, int tokens);
// Over token buckets with 200 live rows and zeros beyond: one algorithm for all, and each bucket's own.
Measure bits_over_buckets(const LtLibrary& lt, const LtArena& arena, const GemmRole& role);

}  // namespace shoal::probe
