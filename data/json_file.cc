#include "data/json_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "data/text_error.h"
#include "data/utf8.h"

namespace shoal::data {

nlohmann::json parse_json(std::string_view text, const std::filesystem::path& file, std::int64_t line) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    // The parser names the byte behind what it stumbled over, from 1.
    const std::string_view before = text.substr(0, std::min(text.size(), error.byte - (error.byte > 0)));
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 == 0
    const auto lines = std::count(before.begin(), before.end(), '\n');
    std::string_view what = error.what();
    if (const std::size_t at = what.find(": "); at != std::string_view::npos) what.remove_prefix(at + 2);
    fail_at(file, line + lines, static_cast<std::int64_t>(count_code_points(before.substr(line_start))) + 1,
            "not JSON: " + std::string(what));
  }
}

nlohmann::json read_json(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in.good()) fail_at(file, 0, 0, "cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) fail_at(file, 0, 0, "cannot be read");
  return parse_json(text, file, 1);
}

}  // namespace shoal::data
