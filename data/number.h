// A cell that is a number.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace shoal::data {

// The whole text as a finite number in C's notation without a sign +, else nothing.
inline std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

}  // namespace shoal::data
