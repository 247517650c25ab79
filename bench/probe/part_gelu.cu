// Part "gelu": what an erf-GELU epilogue costs. In registers alone (ceilings.h), exposed and hidden; in a
// real GEMM of the FFN's shape with one and two blocks an SM (one: nothing hides it); and as a kernel of its
// own.
#include "bench/probe/ceilings.h"
#include "bench/probe/erf_gelu.cuh"
#include "bench/probe/gpu.h"
#include "bench/probe/mma_gemm.h"
#include "bench/probe/part.h"
#include "bench/probe/plan.h"
#include "bench/probe/random_fill.h"
#include "bench/probe/timing.h"

namespace shoal::probe {
namespace {

constexpr int kTiles = 100;
constexpr double kLargestError = 0.01;  // bf16 rounds u within 0.4 %; a wrong fragment gives about 1

using Run = void (*)(const CeilingRun&, cudaStream_t);

void register_tiles(const PartContext& context, const Card& c, const std::string& unit, Run run_tiles) {
  const DeviceMemory data(kCeilingWords * 4), out(static_cast<std::size_t>(c.sms) * 256 * 4), clocks(16);
  fill_bf16(data.as<__nv_bfloat16>(), kCeilingWords * 2, 7, nullptr);
  PROBE_CUDA(cudaDeviceSynchronize());
  CeilingRun run;
  run.tiles = kTiles;
  run.sms = c.sms;
  run.data = data.as<std::uint32_t>();
  run.out = out.as<std::uint32_t>();
  run.clocks = clocks.as<std::uint64_t>();
  const auto tile_time = [&](TileEnd end, bool together) {
    run.end = end;
    run.together = together;
    return scaled(time_calls(context, [&](cudaStream_t s, int) { run_tiles(run, s); }, {0.25, false}),
                  1e6 / kTiles);
  };
  const Spread main_loop = tile_time(TileEnd::kNone, true);
  for (const bool together : {true, false}) {
    const Spread sum = tile_time(TileEnd::kSum, together), gelu = tile_time(TileEnd::kGelu, together);
    // Of the difference only a range is honest: the worst and the best of both.
    const auto percent = [&](double with, double without) {
      return 100 * (with - without) / main_loop.median;
    };
    const Spread cost{percent(gelu.median, sum.median), percent(gelu.low, sum.high),
                      percent(gelu.high, sum.low), gelu.runs};
    context.emit(Measure("gelu." + unit + (together ? ".exposed" : ".hidden"), "%", cost)
                     .with("main_loop_us", main_loop.median)
                     .with("tile_without_gelu_us", sum.median)
                     .with("tile_with_gelu_us", gelu.median));
  }
}

void in_gemm(const PartContext& context, const MmaGemm& gemm) {
  const std::pair<Epilogue, const char*> forms[] = {{Epilogue::kStore, "store_u"},
                                                    {Epilogue::kStoreTwice, "store_u_u"},
                                                    {Epilogue::kStoreGelu, "store_u_gelu"}};
  for (const auto& [epilogue, form] : forms) {
    for (const int blocks : {1, 2}) {
      const Epilogue e = epilogue;  // structured bindings cannot be captured in this standard
      const Spread s = time_calls(
          context, [&](cudaStream_t stream, int) { run_mma_gemm(gemm, e, blocks, stream); }, {0.25, false});
      const float error = mma_gemm_error(gemm, nullptr);
      if (!(error < kLargestError))
        throw std::runtime_error("the own GEMM is wrong: relative error " + std::to_string(error));
      context.emit(Measure(std::string("gelu.gemm.") + form + (blocks == 1 ? ".one_block" : ".two_blocks"),
                           "TFLOP/s", rate_of(s, gemm.flops() * 1e-12))
                       .with("us", s.median * 1e6)
                       .with("largest_error", double(error)));
    }
  }
}

__global__ void __launch_bounds__(256) gelu_kernel(uint4* g, const uint4* u, int chunks) {
  const int i = static_cast<int>(blockIdx.x * 256 + threadIdx.x);
  if (i >= chunks) return;
  union {
    uint4 words;
    __nv_bfloat162 pairs[4];
  } v;
  v.words = u[i];
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    const float2 pair = __bfloat1622float2(v.pairs[p]);
    v.pairs[p] = __floats2bfloat162_rn(erf_gelu(pair.x), erf_gelu(pair.y));
  }
  g[i] = v.words;
}

}  // namespace

void run_gelu(PartContext& context) {
  const Card c = card();
  register_tiles(context, c, "mma_sync", run_mma_sync_tiles);
  if (c.hopper()) register_tiles(context, c, "wgmma", run_wgmma_tiles);

  const std::int64_t T = size::kGeluTokens, C = size::kHidden, F = size::kFeedForward;
  const DeviceMemory x(static_cast<std::size_t>(T * C * 2)), w(static_cast<std::size_t>(F * C * 2)),
      u(static_cast<std::size_t>(T * F * 2)), g(static_cast<std::size_t>(T * F * 2));
  fill_bf16(x.as<__nv_bfloat16>(), T * C, 1, nullptr);
  fill_bf16(w.as<__nv_bfloat16>(), F * C, 2, nullptr);
  PROBE_CUDA(cudaDeviceSynchronize());
  MmaGemm gemm;
  gemm.u = u.as<__nv_bfloat16>();
  gemm.g = g.as<__nv_bfloat16>();
  gemm.x = x.as<__nv_bfloat16>();
  gemm.w = w.as<__nv_bfloat16>();
  gemm.T = static_cast<int>(T);
  gemm.N = static_cast<int>(F);
  gemm.K = static_cast<int>(C);
  in_gemm(context, gemm);

  const int chunks = static_cast<int>(T * F / 8);
  const Spread s = time_calls(context, [&](cudaStream_t stream, int) {
    gelu_kernel<<<static_cast<unsigned>((chunks + 255) / 256), 256, 0, stream>>>(g.as<uint4>(), u.as<uint4>(),
                                                                                 chunks);
    PROBE_LAUNCHED();
  });
  context.emit(Measure("gelu.separate", "GB/s", rate_of(s, 4e-9 * double(T * F))).with("us", s.median * 1e6));
}

}  // namespace shoal::probe
