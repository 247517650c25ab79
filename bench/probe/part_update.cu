// Part "update": an AdamW-like stream over one BERT-base row on all, half and a fifth of the SMs, alone and
// beside a GEMM. It is the traffic that counts; the arithmetic is AdamW's in outline.
//   28 bytes a parameter  reads g, m, v, weight 16 + remainder 16; writes m, v, weight, remainder
//   30                    reads g, p, m, v; writes p, m, v and the bf16 weight
//   34                    the same, and the gradient is zeroed
#include <cuda_bf16.h>

#include <vector>

#include "bench/probe/gpu.h"
#include "bench/probe/mma_gemm.h"
#include "bench/probe/part.h"
#include "bench/probe/plan.h"
#include "bench/probe/random_fill.h"
#include "bench/probe/timing.h"

namespace shoal::probe {
namespace {

constexpr int kThreads = 512;
constexpr int kVector = 4;  // parameters a thread takes at once: 16 bytes of each f32 array

struct Row {
  float *g, *p, *m, *v;
  __nv_bfloat16 *weight, *remainder;
  long long vectors;  // parameters / kVector
};

__device__ __forceinline__ float updated(float& m, float& v, float g, float p) {
  m = 0.9f * m + 0.1f * g;
  v = 0.999f * v + 0.001f * g * g;
  return p - 1e-5f * (m / (sqrtf(fabsf(v)) + 1e-8f) + 0.01f * p);
}

// Two 16-bit halves of an f32: the upper one is the weight that the GEMMs would read.
__device__ __forceinline__ float joined(unsigned weight, unsigned remainder, int half) {
  const unsigned shift = half * 16;
  return __uint_as_float((weight >> shift) << 16 | ((remainder >> shift) & 0xFFFF));
}

template <int kBytes>
__device__ __forceinline__ void update_vector(const Row& r, long long i) {
  float4 g = reinterpret_cast<const float4*>(r.g)[i], m = reinterpret_cast<float4*>(r.m)[i],
         v = reinterpret_cast<float4*>(r.v)[i], p;
  uint2 weight{}, remainder{};
  if (kBytes == 28) {
    weight = reinterpret_cast<uint2*>(r.weight)[i];
    remainder = reinterpret_cast<uint2*>(r.remainder)[i];
    p = make_float4(joined(weight.x, remainder.x, 0), joined(weight.x, remainder.x, 1),
                    joined(weight.y, remainder.y, 0), joined(weight.y, remainder.y, 1));
  } else {
    p = reinterpret_cast<float4*>(r.p)[i];
  }
  p.x = updated(m.x, v.x, g.x, p.x);
  p.y = updated(m.y, v.y, g.y, p.y);
  p.z = updated(m.z, v.z, g.z, p.z);
  p.w = updated(m.w, v.w, g.w, p.w);
  reinterpret_cast<float4*>(r.m)[i] = m;
  reinterpret_cast<float4*>(r.v)[i] = v;
  if (kBytes == 28) {
    const unsigned x = __float_as_uint(p.x), y = __float_as_uint(p.y), z = __float_as_uint(p.z),
                   w = __float_as_uint(p.w);
    weight = make_uint2(x >> 16 | (y & 0xFFFF0000), z >> 16 | (w & 0xFFFF0000));
    remainder = make_uint2((x & 0xFFFF) | y << 16, (z & 0xFFFF) | w << 16);
    reinterpret_cast<uint2*>(r.remainder)[i] = remainder;
  } else {
    reinterpret_cast<float4*>(r.p)[i] = p;
    const __nv_bfloat162 low = __floats2bfloat162_rn(p.x, p.y), high = __floats2bfloat162_rn(p.z, p.w);
    weight = make_uint2(reinterpret_cast<const unsigned&>(low), reinterpret_cast<const unsigned&>(high));
  }
  reinterpret_cast<uint2*>(r.weight)[i] = weight;
  if (kBytes == 34) reinterpret_cast<float4*>(r.g)[i] = make_float4(0, 0, 0, 0);
}

// Blocks stay for the whole row, so that the grid's size is the number of SMs taken.
template <int kBytes>
__global__ void __launch_bounds__(kThreads, 2) update_kernel(Row row) {
  const long long step = static_cast<long long>(gridDim.x) * kThreads;
#pragma unroll 2
  for (long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; i < row.vectors;
       i += step) {
    update_vector<kBytes>(row, i);
  }
}

// Which SMs: `sms` blocks that leave no shared memory for another's block, or two blocks on every SM.
struct Share {
  const char* name;
  int blocks;
  std::size_t shared_bytes;
};

std::vector<Share> shares(const Card& c) {
  const std::size_t whole = c.shared_per_block;
  return {{"shared", c.sms * 2, 0},
          {"all", c.sms, whole},
          {"half", c.sms / 2, whole},
          {"fifth", c.sms / 5, whole}};
}

template <int kBytes>
void launch_update(const Row& row, const Share& share, cudaStream_t stream) {
  if (share.shared_bytes != 0) {
    PROBE_CUDA(cudaFuncSetAttribute(update_kernel<kBytes>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(share.shared_bytes)));
  }
  update_kernel<kBytes><<<static_cast<unsigned>(share.blocks), kThreads, share.shared_bytes, stream>>>(row);
  PROBE_LAUNCHED();
}

void launch_update(int bytes, const Row& row, const Share& share, cudaStream_t stream) {
  if (bytes == 28) return launch_update<28>(row, share, stream);
  if (bytes == 30) return launch_update<30>(row, share, stream);
  launch_update<34>(row, share, stream);
}

void alone(const PartContext& context, const Card& c, const Row& row) {
  for (const int bytes : {28, 30, 34}) {
    for (Share share : shares(c)) {
      if (std::string(share.name) == "shared") continue;
      // Alone nothing competes: two blocks an SM, as many loads in flight as a real update would have.
      if (std::string(share.name) == "all") share = {"all", c.sms * 2, 0};
      const auto launch = [&](cudaStream_t stream, int) { launch_update(bytes, row, share, stream); };
      const Spread s = time_calls(context, launch, {0.25, false});
      context.emit(Measure(update_name(bytes, share.name), "GB/s",
                           rate_of(s, 1e-9 * bytes * double(size::kBertBaseRow)))
                       .with("blocks", share.blocks)
                       .with("ms_per_row", s.median * 1e3));
    }
  }
}

// Both streams start at one event; each is timed to its own end.
struct Together {
  double update, gemm;
};

Together run_together(const Row& row, const Share& share, int updates, const MmaGemm& gemm, int gemms,
                      cudaStream_t update_stream, cudaStream_t gemm_stream) {
  const Event begin, update_end, gemm_end;
  PROBE_CUDA(cudaEventRecord(begin, gemm_stream));
  PROBE_CUDA(cudaStreamWaitEvent(update_stream, begin, 0));
  for (int i = 0; i < gemms; ++i) run_mma_gemm(gemm, Epilogue::kStore, 2, gemm_stream);
  for (int i = 0; i < updates; ++i) launch_update(30, row, share, update_stream);
  PROBE_CUDA(cudaEventRecord(update_end, update_stream));
  PROBE_CUDA(cudaEventRecord(gemm_end, gemm_stream));
  PROBE_CUDA(cudaEventSynchronize(update_end));
  PROBE_CUDA(cudaEventSynchronize(gemm_end));
  return {updates == 0 ? 0 : seconds_between(begin, update_end),
          gemms == 0 ? 0 : seconds_between(begin, gemm_end)};
}

void beside_gemm(const PartContext& context, const Card& c, const Row& row, const MmaGemm& gemm) {
  int lowest = 0, highest = 0;
  PROBE_CUDA(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  const Stream update_stream(highest), gemm_stream(lowest);
  constexpr int kUpdates = 4, kRuns = 7;
  for (const Share& share : shares(c)) {
    context.check_time();
    run_together(row, share, 1, gemm, 1, update_stream, gemm_stream);
    const double update_alone =
        run_together(row, share, kUpdates, gemm, 0, update_stream, gemm_stream).update;
    const double one_gemm = run_together(row, share, 0, gemm, 8, update_stream, gemm_stream).gemm / 8;
    // As much GEMM as update, by the time that each takes alone.
    const int gemms = std::max(1, static_cast<int>(update_alone / one_gemm + 0.5));
    const double gemm_alone = run_together(row, share, 0, gemm, gemms, update_stream, gemm_stream).gemm;
    std::vector<double> percent, update, product;
    for (int i = 0; i < kRuns; ++i) {
      const Together t = run_together(row, share, kUpdates, gemm, gemms, update_stream, gemm_stream);
      percent.push_back(100 * std::max(t.update, t.gemm) / (update_alone + gemm_alone));
      update.push_back(t.update);
      product.push_back(t.gemm);
    }
    context.emit(Measure(update_name(30, share.name) + ".beside_gemm", "%", spread_of(percent))
                     .with("blocks", share.blocks)
                     .with("update_alone_ms", update_alone * 1e3)
                     .with("update_beside_ms", spread_of(update).median * 1e3)
                     .with("gemm_alone_ms", gemm_alone * 1e3)
                     .with("gemm_beside_ms", spread_of(product).median * 1e3)
                     .with("gemm_alone_tflops", gemm.flops() * gemms / gemm_alone * 1e-12));
  }
}

}  // namespace

void run_update(PartContext& context) {
  const Card c = card();
  const std::int64_t P = size::kBertBaseRow;
  const auto f32 = static_cast<std::size_t>(P) * 4, half = static_cast<std::size_t>(P) * 2;
  const DeviceMemory g(f32), p(f32), m(f32), v(f32), weight(half), remainder(half);
  std::uint64_t seed = 1;
  for (const DeviceMemory* array : {&g, &p, &m, &v}) fill_f32(array->as<float>(), P, seed++, nullptr);
  for (const DeviceMemory* array : {&weight, &remainder})
    fill_bf16(array->as<__nv_bfloat16>(), P, seed++, nullptr);
  const Row row{g.as<float>(),
                p.as<float>(),
                m.as<float>(),
                v.as<float>(),
                weight.as<__nv_bfloat16>(),
                remainder.as<__nv_bfloat16>(),
                P / kVector};
  static_assert(size::kBertBaseRow % kVector == 0);

  const std::int64_t T = size::kGeluTokens, C = size::kHidden, F = size::kFeedForward;
  const DeviceMemory x(static_cast<std::size_t>(T * C) * 2), w(static_cast<std::size_t>(F * C) * 2),
      u(static_cast<std::size_t>(T * F) * 2);
  fill_bf16(x.as<__nv_bfloat16>(), T * C, seed++, nullptr);
  fill_bf16(w.as<__nv_bfloat16>(), F * C, seed++, nullptr);
  PROBE_CUDA(cudaDeviceSynchronize());
  MmaGemm gemm;
  gemm.u = u.as<__nv_bfloat16>();
  gemm.x = x.as<__nv_bfloat16>();
  gemm.w = w.as<__nv_bfloat16>();
  gemm.T = static_cast<int>(T);
  gemm.N = static_cast<int>(F);
  gemm.K = static_cast<int>(C);

  alone(context, c, row);
  beside_gemm(context, c, row, gemm);
}

}  // namespace shoal::probe
