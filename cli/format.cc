#include "cli/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::cli {

std::string with_commas(std::int64_t n) {
  std::string out = fmt::format("{}", n);
  const std::int64_t digits_from = n < 0 ? 1 : 0;
  for (auto at = static_cast<std::int64_t>(out.size()) - 3; at > digits_from; at -= 3) {
    out.insert(static_cast<std::size_t>(at), ",");
  }
  return out;
}

std::string counted(std::int64_t n, const char* one) {
  return fmt::format("{} {}{}", with_commas(n), one, n == 1 ? "" : "s");
}

std::string clock_text(double seconds) {
  // A rate of nothing makes an endless estimate.
  if (!std::isfinite(seconds) || seconds > 1e9) return "?";
  const auto whole = static_cast<std::int64_t>(std::max(0.0, std::round(seconds)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string bytes_text(std::int64_t bytes) {
  constexpr double kThousand = 1000;
  double value = static_cast<double>(bytes);
  const char* unit = "bytes";
  for (const char* next : {"kB", "MB", "GB", "TB"}) {
    if (value < kThousand - 0.5) break;
    value /= kThousand;
    unit = next;
  }
  const bool fraction = value < 10 && bytes >= 1'000'000'000;
  return fmt::format("{:.{}f} {}", value, fraction ? 1 : 0, unit);
}

std::string metric_text(double value) {
  return fmt::format("{:.3f}", value);
}

std::string epoch_text(double epoch) {
  const double rounded = std::round(epoch * 100) / 100;
  return fmt::format("{}", rounded);
}

}  // namespace shoal::cli
