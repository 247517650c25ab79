// Part "span": arrays of more than 2^31 elements, where 32-bit indices wrap. One cast over 24 BERT-base rows,
// every element checked against its own number; and a batched library GEMM whose weights lie whole rows
// apart.
#include <vector>

#include "bench/probe/cublaslt.h"
#include "bench/probe/gpu.h"
#include "bench/probe/part.h"
#include "bench/probe/plan.h"
#include "bench/probe/random_fill.h"
#include "bench/probe/timing.h"

namespace shoal::probe {
namespace {

constexpr int kThreads = 256, kVector = 4;
constexpr std::int64_t kRow = size::kBertBaseRow, kAll = kRow * size::kSpanRows;
static_assert(kAll > std::int64_t{1} << 31 && kRow % kVector == 0);

// Exact in bf16, and different for neighbours 2^31 or 2^32 elements apart (2^31 mod 251 = 187).
__device__ float number_of(std::int64_t i) {
  return static_cast<float>(i % 251);
}

__global__ void __launch_bounds__(kThreads) number_kernel(float* out) {
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < kAll; i += step)
    out[i] = number_of(i);
}

// As the engine's row ops: a row per blockIdx.y, at row * stride.
__global__ void __launch_bounds__(kThreads)
    cast_kernel(__nv_bfloat16* out, const float* in, std::int64_t stride) {
  const std::int64_t i = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (i >= stride) return;
  const std::int64_t at = std::int64_t{blockIdx.y} * stride + i;
  const float4 v = *reinterpret_cast<const float4*>(in + at);
  const __nv_bfloat162 low = __floats2bfloat162_rn(v.x, v.y), high = __floats2bfloat162_rn(v.z, v.w);
  *reinterpret_cast<uint2*>(out + at) =
      make_uint2(reinterpret_cast<const unsigned&>(low), reinterpret_cast<const unsigned&>(high));
}

__global__ void __launch_bounds__(kThreads)
    wrong_kernel(unsigned long long* wrong, const __nv_bfloat16* out) {
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  unsigned long long mine = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < kAll; i += step) {
    mine += !(__bfloat162float(out[i]) == number_of(i));
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

void cast(const PartContext& context, const DeviceMemory& weights) {
  const DeviceMemory masters(static_cast<std::size_t>(kAll) * 4), wrong(8);
  number_kernel<<<4096, kThreads>>>(masters.as<float>());
  PROBE_LAUNCHED();
  PROBE_CUDA(cudaMemset(weights.as<void>(), 0xFF, weights.bytes()));
  PROBE_CUDA(cudaMemset(wrong.as<void>(), 0, wrong.bytes()));
  PROBE_CUDA(cudaDeviceSynchronize());
  const dim3 grid(static_cast<unsigned>((kRow / kVector + kThreads - 1) / kThreads), size::kSpanRows);
  const Spread s = time_calls(context,
                              [&](cudaStream_t stream, int) {
                                cast_kernel<<<grid, kThreads, 0, stream>>>(weights.as<__nv_bfloat16>(),
                                                                           masters.as<float>(), kRow);
                                PROBE_LAUNCHED();
                              },
                              {0.3, false});
  wrong_kernel<<<4096, kThreads>>>(wrong.as<unsigned long long>(), weights.as<__nv_bfloat16>());
  PROBE_LAUNCHED();
  unsigned long long count = 0;
  PROBE_CUDA(cudaMemcpy(&count, wrong.as<void>(), sizeof count, cudaMemcpyDeviceToHost));
  context.emit(Measure("span.cast", "GB/s", rate_of(s, 6e-9 * double(kAll)))
                   .with("elements", kAll)
                   .with("wrong_elements", static_cast<std::int64_t>(count)));
}

// Every replica's product in one batched call against the same algorithm, one replica at a time.
void library(const PartContext& context, const DeviceMemory& weights) {
  constexpr int kTokens = 256;
  const LtLibrary lt(context.cublaslt_path);
  const GemmRole role{"qkv", Pass::kForward, size::kHidden, 3 * size::kHidden};
  const Gemm shape = column_major(role, kTokens);
  const LtStrides strides{kRow, shape.b.elements(), shape.d.elements()};
  const LtGemm alone(lt, role, kTokens, 1), together(lt, role, kTokens, size::kSpanRows, strides);
  const auto replicas = static_cast<std::size_t>(size::kSpanRows);
  const std::size_t x_bytes = static_cast<std::size_t>(strides.b) * 2,
                    y_bytes = static_cast<std::size_t>(strides.d) * 2;
  const DeviceMemory x(x_bytes * replicas), y(y_bytes * replicas), expected(y_bytes * replicas),
      workspace(kLtWorkspace);
  fill_bf16(weights.as<__nv_bfloat16>(), kAll, 5, nullptr);
  fill_bf16(x.as<__nv_bfloat16>(), strides.b * size::kSpanRows, 6, nullptr);
  PROBE_CUDA(cudaMemset(y.as<void>(), 0xFF, y.bytes()));

  Measure m("span.cublaslt", "differ");
  const auto algo = alone.unsplit_choice();
  if (!algo || !together.accepts(*algo)) {
    context.emit(m.with("pinned", "refused"));
    return;
  }
  for (std::size_t r = 0; r < replicas; ++r) {
    alone.run(*algo, expected.as<void>(r * y_bytes), weights.as<void>(r * static_cast<std::size_t>(kRow) * 2),
              x.as<void>(r * x_bytes), workspace.as<void>(), nullptr);
  }
  together.run(*algo, y.as<void>(), weights.as<void>(), x.as<void>(), workspace.as<void>(), nullptr);
  PROBE_CUDA(cudaDeviceSynchronize());
  const std::int64_t last =
      count_differing_words(y.as<void>(y_bytes * (replicas - 1)), expected.as<void>(y_bytes * (replicas - 1)),
                            static_cast<std::int64_t>(y_bytes / 4), nullptr);
  const std::int64_t all = count_differing_words(y.as<void>(), expected.as<void>(),
                                                 static_cast<std::int64_t>(y.bytes() / 4), nullptr);
  m.value = {double(last), double(last), double(last), 1};
  context.emit(m.with("differ_all_replicas", all)
                   .with("words", static_cast<std::int64_t>(y.bytes() / 4))
                   .with("algo", describe(lt, *algo)));
}

}  // namespace

void run_span(PartContext& context) {
  const DeviceMemory weights(static_cast<std::size_t>(kAll) * 2);
  cast(context, weights);
  library(context, weights);
}

}  // namespace shoal::probe
