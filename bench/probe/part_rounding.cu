// Part "rounding": do the tensor cores round as the model says (rounding_model.h)? Counts the results whose
// bits differ from the model of either architecture, for mma.sync and wgmma, and between the two.
#include <cmath>
#include <cstring>
#include <vector>

#include "bench/probe/gpu.h"
#include "bench/probe/part.h"
#include "bench/probe/plan.h"
#include "bench/probe/rounding_data.h"
#include "bench/probe/rounding_kernels.h"
#include "bench/probe/rounding_model.h"

namespace shoal::probe {
namespace {

struct Models {
  std::vector<float> ampere, hopper;
};

Models by_model(const PartContext& context, const RoundingData& data) {
  Models m;
  for (int p = 0; p < data.problems; ++p) {
    for (int row = 0; row < data.rows; ++row) {
      context.check_time();
      for (int column = 0; column < data.columns; ++column) {
        const float c = data.c[m.ampere.size()];
        const std::uint16_t *a = data.a_row(p, row), *b = data.b_row(p, column);
        m.ampere.push_back(tensor_core_dot(kAmpere, a, b, data.K, c));
        m.hopper.push_back(tensor_core_dot(kHopper, a, b, data.K, c));
      }
    }
  }
  return m;
}

template <typename T>
DeviceMemory on_device(const std::vector<T>& host) {
  DeviceMemory memory(host.size() * sizeof(T));
  PROBE_CUDA(cudaMemcpy(memory.as<void>(), host.data(), memory.bytes(), cudaMemcpyHostToDevice));
  return memory;
}

std::vector<float> by_hardware(const RoundingData& data,
                               void (*multiply)(const RoundingProblems&, cudaStream_t)) {
  const DeviceMemory a = on_device(data.a), b = on_device(data.b), c = on_device(data.c),
                     d(data.c.size() * 4);
  PROBE_CUDA(cudaMemset(d.as<void>(), 0xFF, d.bytes()));  // NaN: what nobody writes shows
  RoundingProblems p;
  p.d = d.as<float>();
  p.a = a.as<std::uint16_t>();
  p.b = b.as<std::uint16_t>();
  p.c = c.as<float>();
  p.K = data.K;
  p.problems = data.problems;
  multiply(p, nullptr);
  std::vector<float> result(data.c.size());
  PROBE_CUDA(cudaMemcpy(result.data(), d.as<void>(), d.bytes(), cudaMemcpyDeviceToHost));
  return result;
}

std::int64_t differing(const std::vector<float>& x, const std::vector<float>& y) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) count += std::memcmp(&x[i], &y[i], sizeof(float)) != 0;
  return count;
}

// Against either model relative to the size of the terms: about 1e-6 where only rounding differs, about 1
// where a fragment or a descriptor is wrong. Tells a wrong probe from a wrong model.
double largest_distance(const RoundingData& data, const std::vector<float>& x, const std::vector<float>& y) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const int column = int(i) % data.columns, row = int(i) / data.columns;  // rows run on over the problems
    const int problem = row / data.rows;
    double terms = std::fabs(data.c[i]);
    const std::uint16_t *a = data.a_row(problem, row % data.rows), *b = data.b_row(problem, column);
    for (int k = 0; k < data.K; ++k) terms += std::fabs(double(from_bf16(a[k])) * from_bf16(b[k]));
    const double distance = std::fabs(double(x[i]) - y[i]) / terms;
    if (!(distance <= largest)) largest = distance;  // keeps NaN
  }
  return largest;
}

void report(const PartContext& context, const Card& c, const std::string& name, const RoundingData& data,
            const std::vector<float>& result, const Models& models) {
  const std::int64_t ampere = differing(result, models.ampere), hopper = differing(result, models.hopper);
  // The model expected here; on an architecture that is neither, the nearer one is shown.
  const bool expect_hopper = c.major >= 9 || (c.major != 8 && hopper < ampere);
  const double count = double(expect_hopper ? hopper : ampere);
  context.emit(Measure(name, "differ", {count, count, count, 1})
                   .with("results", std::int64_t(result.size()))
                   .with("model", expect_hopper ? "H100: 16 terms, 25 bits" : "A100: 8 terms, 24 bits")
                   .with("differ_from_a100_model", ampere)
                   .with("differ_from_h100_model", hopper)
                   .with("largest_distance_of_terms", largest_distance(data, result, models.hopper)));
}

}  // namespace

void run_rounding(PartContext& context) {
  const Card c = card();
  std::int64_t between = 0, compared = 0;
  for (const int K : {16, 768}) {
    for (const std::string kind : kRoundingKinds) {
      const int problems = K == 16 ? size::kSingleStepProblems : size::kEdgeProblems;
      const RoundingData data = rounding_data(kind, kProblemRows, kProblemColumns, K, problems, 11);
      const Models models = by_model(context, data);
      const std::string tail = "." + kind + ".k" + std::to_string(K);
      const std::vector<float> mma_sync = by_hardware(data, multiply_by_mma_sync);
      report(context, c, "rounding.mma_sync" + tail, data, mma_sync, models);
      if (!c.hopper()) continue;
      const std::vector<float> wgmma = by_hardware(data, multiply_by_wgmma);
      report(context, c, "rounding.wgmma" + tail, data, wgmma, models);
      between += differing(mma_sync, wgmma);
      compared += std::int64_t(wgmma.size());
    }
  }
  if (!c.hopper()) return;
  const double count = double(between);
  context.emit(Measure("rounding.mma_sync_against_wgmma", "differ", {count, count, count, 1})
                   .with("results", compared));
}

}  // namespace shoal::probe
