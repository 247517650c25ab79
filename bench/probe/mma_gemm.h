// A plain own GEMM on mma.sync, y = x w^T: the load that other work runs beside, and the host of a GELU
// epilogue. 128 x 128 outputs a block, k ascending in one accumulator, four stages of cp.async.
// Shapes: x [T,K], w [N,K], u and g [T,N], bf16; T and N multiples of 128, K of 32 and at least 96.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace shoal::probe {

enum class Epilogue {
  kStore,       // u = bf16(x w^T)
  kStoreTwice,  // and g = u: the traffic of GELU without its arithmetic
  kStoreGelu,   // and g = bf16(gelu(u))
};

struct MmaGemm {
  __nv_bfloat16 *u = nullptr, *g = nullptr;
  const __nv_bfloat16 *x = nullptr, *w = nullptr;
  int T = 0, N = 0, K = 0;
  double flops() const { return 2.0 * T * N * K; }
};

// blocks_per_sm: 1 or 2; 1 is forced by asking for more shared memory than half an SM has.
void run_mma_gemm(const MmaGemm& gemm, Epilogue epilogue, int blocks_per_sm, cudaStream_t stream);

// Largest |u - exact| / (1 + |exact|) over a sample of outputs, by a plain loop in f32; synchronises.
float mma_gemm_error(const MmaGemm& gemm, cudaStream_t stream);

}  // namespace shoal::probe
