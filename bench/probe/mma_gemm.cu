#include "bench/probe/erf_gelu.cuh"
#include "bench/probe/gpu.h"
#include "bench/probe/mma_gemm.h"
#include "bench/probe/ptx.cuh"

namespace shoal::probe {
namespace {

constexpr int kBlock = 128, kDepth = 32, kStages = 4, kThreads = 256;
constexpr int kOperandBytes = kBlock * kDepth * 2;  // one operand of one stage
constexpr int kStageBytes = 2 * kOperandBytes;
constexpr int kSharedBytes = kStages * kStageBytes;
constexpr int kSharedForOne = 120 * 1024;  // two such do not fit an SM

// Rows of 32 bf16 are four 16-byte chunks; the swizzle keeps ldmatrix and cp.async free of bank conflicts.
__device__ __forceinline__ std::uint32_t chunk_at(int row, int chunk) {
  return static_cast<std::uint32_t>(row * (kDepth * 2) + ((chunk ^ (row >> 1 & 3)) * 16));
}

// What one thread copies of an operand's stage: its chunk of row r and of row r + 64, whose swizzle is the
// same.
struct Fetch {
  const __nv_bfloat16* from;
  std::int64_t second;  // elements to row r + 64
  __device__ __forceinline__ void next(std::uint32_t shared) {
    ptx::copy_async_16(shared, from);
    ptx::copy_async_16(shared + 64 * kDepth * 2, from + second);
    from += kDepth;
  }
};

// One stage of a warp's 64 x 32 outputs; fragments as in CUDA_NOTES 3.1. a_row, b_row: this lane's row of the
// first fragment; rows 16 further on have the same swizzle.
__device__ __forceinline__ void multiply(float (&acc)[4][4][4], std::uint32_t stage, int a_row, int b_row) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int k = 0; k < kDepth / 16; ++k) {
    const std::uint32_t a_at = stage + chunk_at(a_row, k * 2 + (lane >> 4));
    const std::uint32_t b_at = stage + kOperandBytes + chunk_at(b_row, k * 2 + (lane >> 3 & 1));
    std::uint32_t b[2][4];
#pragma unroll
    for (int n = 0; n < 2; ++n) ptx::ldmatrix_x4(b[n], b_at + n * 16 * kDepth * 2);
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      std::uint32_t a[4];
      ptx::ldmatrix_x4(a, a_at + m * 16 * kDepth * 2);
#pragma unroll
      for (int n = 0; n < 4; ++n)
        ptx::mma_m16n8k16(acc[m][n], a, b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
    }
  }
}

// The rounded pairs of a thread wait in its own words of shared memory (nobody else's: no barrier between the
// passes), so that the erf of the second pass finds registers free; a short loop keeps it from spilling.
template <Epilogue kEpilogue>
__device__ __forceinline__ void store(const MmaGemm& gemm, std::int64_t at, const float (&acc)[4][4][4],
                                      __nv_bfloat162* parked) {
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int m = i / 8, half = i / 4 % 2, n = i % 4;
    const __nv_bfloat162 u = __floats2bfloat162_rn(acc[m][n][half * 2], acc[m][n][half * 2 + 1]);
    const std::int64_t place = at + (m * 16 + half * 8) * std::int64_t{gemm.N} + n * 8;
    *reinterpret_cast<__nv_bfloat162*>(gemm.u + place) = u;
    if (kEpilogue != Epilogue::kStore) parked[i * kThreads] = u;
  }
  if constexpr (kEpilogue != Epilogue::kStore) {
#pragma unroll 1
    for (int rows = 0; rows < 8; ++rows, at += 8 * std::int64_t{gemm.N}) {
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        __nv_bfloat162 g = parked[(rows * 4 + n) * kThreads];
        if constexpr (kEpilogue == Epilogue::kStoreGelu) {
          const float2 rounded = __bfloat1622float2(g);
          g = __floats2bfloat162_rn(erf_gelu(rounded.x), erf_gelu(rounded.y));
        }
        *reinterpret_cast<__nv_bfloat162*>(gemm.g + at + n * 8) = g;
      }
    }
  }
}

template <Epilogue kEpilogue>
__global__ void __launch_bounds__(kThreads, 2) gemm_kernel(MmaGemm gemm) {
  extern __shared__ __align__(128) unsigned char raw[];
  const std::uint32_t shared = ptx::shared_address(raw);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int m0 = warp % 2 * 64, n0 = warp / 2 * 32;
  const int a_row = m0 + (lane & 15), b_row = n0 + (lane & 7) + (lane >> 4 << 3);
  // Neighbouring blocks share rows of x: w is small and stays in the L2.
  const std::int64_t row0 = std::int64_t{blockIdx.y} * kBlock, column0 = std::int64_t{blockIdx.x} * kBlock;
  const std::int64_t mine = std::int64_t{thread / 4} * gemm.K + thread % 4 * 8;
  Fetch x{gemm.x + row0 * gemm.K + mine, std::int64_t{64} * gemm.K};
  Fetch w{gemm.w + column0 * gemm.K + mine, std::int64_t{64} * gemm.K};
  const std::uint32_t place = chunk_at(thread / 4, thread % 4);
  const int steps = gemm.K / kDepth;
  float acc[4][4][4] = {};

#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    x.next(shared + s * kStageBytes + place);
    w.next(shared + s * kStageBytes + kOperandBytes + place);
    ptx::copy_async_commit();
  }
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    ptx::copy_async_wait<kStages - 2>();
    __syncthreads();  // this stage is there for all, and the one refilled next is read by none
    if (step + kStages - 1 < steps) {
      const std::uint32_t stage = shared + (step + kStages - 1) % kStages * kStageBytes + place;
      x.next(stage);
      w.next(stage + kOperandBytes);
    }
    ptx::copy_async_commit();  // empty at the tail, so that the wait above counts the same
    multiply(acc, shared + step % kStages * kStageBytes, a_row, b_row);
  }
  __syncthreads();  // the stages are read: their memory is free
  store<kEpilogue>(gemm, (row0 + m0 + lane / 4) * gemm.N + column0 + n0 + lane % 4 * 2, acc,
                   reinterpret_cast<__nv_bfloat162*>(raw) + thread);
}

__global__ void __launch_bounds__(256) error_kernel(unsigned* worst, MmaGemm gemm) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;  // a sample that visits all rows and columns mod 128
  const std::int64_t row = (std::int64_t{i} * 7919) % gemm.T, column = (std::int64_t{i} * 104729) % gemm.N;
  float sum = 0;
  for (int k = 0; k < gemm.K; ++k) {
    sum =
        fmaf(__bfloat162float(gemm.x[row * gemm.K + k]), __bfloat162float(gemm.w[column * gemm.K + k]), sum);
  }
  const float error = fabsf(__bfloat162float(gemm.u[row * gemm.N + column]) - sum) / (1 + fabsf(sum));
  // Positive floats order as their bits; NaN orders above all.
  atomicMax(worst, __float_as_uint(error));
}

template <Epilogue kEpilogue>
void launch(const MmaGemm& gemm, int shared_bytes, cudaStream_t stream) {
  PROBE_CUDA(cudaFuncSetAttribute(gemm_kernel<kEpilogue>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  kSharedForOne));
  const dim3 grid(static_cast<unsigned>(gemm.N / kBlock), static_cast<unsigned>(gemm.T / kBlock));
  gemm_kernel<kEpilogue><<<grid, kThreads, static_cast<std::size_t>(shared_bytes), stream>>>(gemm);
  PROBE_LAUNCHED();
}

}  // namespace

void run_mma_gemm(const MmaGemm& gemm, Epilogue epilogue, int blocks_per_sm, cudaStream_t stream) {
  const int shared_bytes = blocks_per_sm == 1 ? kSharedForOne : kSharedBytes;
  switch (epilogue) {
    case Epilogue::kStore:
      return launch<Epilogue::kStore>(gemm, shared_bytes, stream);
    case Epilogue::kStoreTwice:
      return launch<Epilogue::kStoreTwice>(gemm, shared_bytes, stream);
    case Epilogue::kStoreGelu:
      return launch<Epilogue::kStoreGelu>(gemm, shared_bytes, stream);
  }
}

float mma_gemm_error(const MmaGemm& gemm, cudaStream_t stream) {
  const DeviceMemory worst(sizeof(float));
  PROBE_CUDA(cudaMemsetAsync(worst.as<void>(), 0, sizeof(float), stream));
  error_kernel<<<64, 256, 0, stream>>>(worst.as<unsigned>(), gemm);
  PROBE_LAUNCHED();
  float result = 0;
  PROBE_CUDA(cudaMemcpyAsync(&result, worst.as<void>(), sizeof result, cudaMemcpyDeviceToHost, stream));
  PROBE_CUDA(cudaStreamSynchronize(stream));
  return result;
}

}  // namespace shoal::probe
