// Part "ceiling": TFLOP/s of the tensor cores when nothing has to be fetched, by either instruction, and the
// clock they held meanwhile (cycles over nanoseconds inside the kernel: as found, nothing is set).
#include "bench/probe/ceilings.h"
#include "bench/probe/gpu.h"
#include "bench/probe/part.h"
#include "bench/probe/random_fill.h"
#include "bench/probe/timing.h"

namespace shoal::probe {
namespace {

constexpr int kTiles = 400;  // a few milliseconds: long enough for power to settle over the runs

using Run = void (*)(const CeilingRun&, cudaStream_t);

void measure(const PartContext& context, const char* name, Run run_tiles, const CeilingRun& run,
             double flops) {
  const Spread s =
      time_calls(context, [&](cudaStream_t stream, int) { run_tiles(run, stream); }, {1.0, false});
  std::uint64_t clocks[2] = {};
  PROBE_CUDA(cudaMemcpy(clocks, run.clocks, sizeof clocks, cudaMemcpyDeviceToHost));
  const double mhz = clocks[1] == 0 ? 0 : 1e3 * double(clocks[0]) / double(clocks[1]);
  context.emit(Measure(name, "TFLOP/s", rate_of(s, flops * 1e-12))
                   .with("sm_mhz_in_kernel", mhz)
                   .with("flops_per_cycle_per_sm", double(flops) / run.sms / (double(clocks[0]) + 1)));
}

}  // namespace

void run_ceiling(PartContext& context) {
  const Card c = card();
  const DeviceMemory data(kCeilingWords * 4), out(static_cast<std::size_t>(c.sms) * 256 * 4), clocks(16);
  fill_bf16(data.as<__nv_bfloat16>(), kCeilingWords * 2, 7, nullptr);
  PROBE_CUDA(cudaDeviceSynchronize());
  CeilingRun run;
  run.tiles = kTiles;
  run.sms = c.sms;
  run.data = data.as<std::uint32_t>();
  run.out = out.as<std::uint32_t>();
  run.clocks = clocks.as<std::uint64_t>();
  measure(context, "ceiling.mma_sync", run_mma_sync_tiles, run, mma_sync_flops(run));
  if (c.hopper()) measure(context, "ceiling.wgmma", run_wgmma_tiles, run, wgmma_flops(run));
}

}  // namespace shoal::probe
