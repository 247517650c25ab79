#include "engine/config/binding.h"

namespace shoal::engine::config {
namespace {

// A bound as people write it: 3, not 3.0.
std::string bound_text(double value) {
  return fmt::format("{}", value);
}

}  // namespace

Range at_least(double low) {
  return {.low = low, .low_open = false, .text = ">= " + bound_text(low)};
}

Range above(double low) {
  return {.low = low, .text = "> " + bound_text(low)};
}

Range from_to_below(double low, double high) {
  return {.low = low,
          .low_open = false,
          .high = high,
          .text = fmt::format("in [{}, {})", bound_text(low), bound_text(high))};
}

Range from_to(std::int64_t low, std::int64_t high) {
  return {.low = static_cast<double>(low),
          .low_open = false,
          .high = static_cast<double>(high) + 1,
          .text = fmt::format("from {} to {}", low, high)};
}

std::string number_text(double value) {
  std::string out = fmt::format("{}", value);
  // fmt pads the exponent to two digits; people write 5e-5.
  if (const std::size_t e = out.find('e'); e != std::string::npos && out[e + 2] == '0') out.erase(e + 2, 1);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string count_text(double value) {
  const bool is_whole = value == std::floor(value) && value < 1e15;
  return is_whole ? fmt::format("{}", static_cast<std::int64_t>(value)) : number_text(value);
}

std::filesystem::path resolved_path(const std::string& written, const Context& context) {
  return (context.base / std::filesystem::path(written)).lexically_normal();
}

std::string path_toml(const std::filesystem::path& path) {
  if (path.empty()) return {};
  return toml_string(std::filesystem::absolute(path).lexically_normal().string());
}

}  // namespace shoal::engine::config
