#include "engine/regression_metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

bool is_constant(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// From 1; equal values get the mean of the ranks they take up.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> rank(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    for (end = begin + 1; end < order.size() && values[order[end]] == values[order[begin]];) ++end;
    const double shared = (static_cast<double>(begin + 1) + static_cast<double>(end)) / 2;
    for (std::size_t i = begin; i < end; ++i) rank[order[i]] = shared;
  }
  return rank;
}

}  // namespace

double pearson(std::span<const double> a, std::span<const double> b) {
  SHOAL_CHECK(a.size() == b.size() && !a.empty());
  if (is_constant(a) || is_constant(b)) return 0;
  const double mean_a = mean(a), mean_b = mean(b);
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  const double spread = std::sqrt(aa) * std::sqrt(bb);
  return spread == 0 ? 0 : std::clamp(ab / spread, -1.0, 1.0);
}

double spearman(std::span<const double> a, std::span<const double> b) {
  return pearson(ranks(a), ranks(b));
}

void RegressionValues::add(float target, float predicted, double loss) {
  targets_.push_back(static_cast<double>(target));
  predictions_.push_back(static_cast<double>(predicted));
  loss_ += loss;
}

bool RegressionValues::undefined() const {
  return is_constant(targets_) || is_constant(predictions_);
}

Metrics RegressionValues::metrics() const {
  require(!targets_.empty(), "evaluation: there are no rows to measure");
  const auto n = static_cast<double>(targets_.size());
  double squares = 0, distances = 0;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const double error = predictions_[i] - targets_[i];
    squares += error * error;
    distances += std::abs(error);
  }
  const double r = pearson(predictions_, targets_), rho = spearman(predictions_, targets_);
  return {{"loss", loss_ / n},  {"pearson", r},        {"spearmanr", rho}, {"combined_score", (r + rho) / 2},
          {"mse", squares / n}, {"mae", distances / n}};
}

}  // namespace shoal::engine
