// What repeated runs are reduced to: the median, and the tenth and ninetieth percentile as their spread.
// A mean would follow the one run that a clock change or another tenant disturbed.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace shoal::probe {

struct Spread {
  double median = 0, low = 0, high = 0;
  int runs = 0;
};

// Linear between the two nearest of the sorted values; q in [0, 1].
inline double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

inline Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.5), quantile(values, 0.1), quantile(values, 0.9),
          static_cast<int>(values.size())};
}

// work / time for each of the three: the slowest time becomes the lowest rate.
inline Spread rate_of(const Spread& seconds, double work) {
  return {work / seconds.median, work / seconds.high, work / seconds.low, seconds.runs};
}

inline Spread scaled(const Spread& s, double factor) {
  return {s.median * factor, s.low * factor, s.high * factor, s.runs};
}

}  // namespace shoal::probe
