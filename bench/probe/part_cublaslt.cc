// Part "cublaslt": the yardstick at BERT-base's twelve roles, and whether it can keep the isolation law.
// Speed with the algorithm pinned at batch 1 (what `gemm = "cublaslt"` would use) beside the library's free
// choice.
#include <algorithm>
#include <map>

#include "bench/probe/cublaslt_bits.h"
#include "bench/probe/plan.h"
#include "bench/probe/timing.h"

namespace shoal::probe {
namespace {

constexpr double kSecondsPerLine = 0.04;

// Rotates so that no call finds its operands in the L2, as far as the arena holds sets.
Spread time_gemm(const PartContext& context, const LtArena& arena, const LtGemm& gemm, const LtAlgo& algo,
                 std::size_t l2) {
  const auto padded = [&gemm](std::int64_t elements, std::size_t bytes) {
    const std::size_t all = static_cast<std::size_t>(elements * gemm.batch()) * bytes;
    return (all + 255) / 256 * 256;  // the alignment that the library assumes
  };
  const std::size_t a = padded(gemm.shape().a.elements(), 2), b = padded(gemm.shape().b.elements(), 2),
                    d = padded(gemm.shape().d.elements(), gemm.result_bytes());
  const std::size_t fit = arena.d.bytes() / std::max({a, b, d});
  const auto sets = static_cast<std::size_t>(
      std::min<std::size_t>(fit, static_cast<std::size_t>(rotated_sets(a + b + d, l2, 256))));
  const auto launch = [&](cudaStream_t stream, int call) {
    const std::size_t set = static_cast<std::size_t>(call) % sets;
    gemm.run(algo, arena.d.as<void>(set * d), arena.a.as<void>(set * a), arena.b.as<void>(set * b),
             arena.workspace.as<void>(), stream);
  };
  return time_calls(context, launch, {kSecondsPerLine, true});
}

void speeds(const PartContext& context, const LtLibrary& lt, const LtArena& arena, const GemmRole& role,
            int tokens, std::size_t l2) {
  const auto pinned = LtGemm(lt, role, tokens, 1).unsplit_choice();
  for (const int batch : kBatches) {
    const LtGemm gemm(lt, role, tokens, batch);
    const double tflop = gemm.shape().flops(batch) * 1e-12;
    Measure m(lt_speed_name(role.name(), tokens, batch), "TFLOP/s");
    std::string pinned_form, free_form;
    if (!pinned || !gemm.accepts(*pinned)) {
      m.with("pinned", pinned ? "refused at this batch" : "none without split K and workspace");
    } else {
      const Spread s = time_gemm(context, arena, gemm, *pinned, l2);
      m.value = rate_of(s, tflop);
      pinned_form = describe(lt, *pinned);
      m.with("us", s.median * 1e6).with("algo", pinned_form);
    }
    if (const auto chosen = gemm.free_choice()) {
      free_form = describe(lt, *chosen);
      m.with("free_algo_same", free_form == pinned_form);
      if (free_form != pinned_form) {
        m.with("free_tflops", rate_of(time_gemm(context, arena, gemm, *chosen, l2), tflop).median)
            .with("free_algo", free_form);
      }
    }
    context.emit(m);
  }
}

}  // namespace

void run_cublaslt(PartContext& context) {
  const LtLibrary lt(context.cublaslt_path);
  context.emit(Measure("cublaslt.library", "").with("version", std::int64_t(lt.version())));
  const LtArena arena;
  const std::size_t l2 = card().l2;
  for (const GemmRole& role : bert_base_roles()) {
    context.check_time();
    context.emit(bits_over_buckets(lt, arena, role));
  }
  for (const int tokens : kTokenBuckets) {
    for (const GemmRole& role : bert_base_roles()) {
      context.check_time();
      context.emit(bits_over_batches(lt, arena, role, tokens));
      speeds(context, lt, arena, role, tokens, l2);
    }
  }
}

}  // namespace shoal::probe
