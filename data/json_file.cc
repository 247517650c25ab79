#include "data/json_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "data/text_error.h"
#include "data/utf8.h"

namespace shoal::data {

namespace {

// Complains about the character at `at` of `text`, which starts on `line`.
[[noreturn]] void fail_inside(std::string_view text, std::size_t at, const std::filesystem::path& file,
                              std::int64_t line, std::string_view what) {
  const std::string_view before = text.substr(0, at);     // all, where `at` is beyond
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 == 0
  if (const std::size_t name = what.find(": "); name != std::string_view::npos) what.remove_prefix(name + 2);
  fail_at(file, line + std::count(before.begin(), before.end(), '\n'),
          static_cast<std::int64_t>(count_code_points(before.substr(line_start))) + 1,
          "not JSON: " + std::string(what));
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::filesystem::path& file, std::int64_t line) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    // The parser names the byte behind what it stumbled over, from 1.
    fail_inside(text, error.byte - (error.byte > 0), file, line, error.what());
  } catch (const nlohmann::json::out_of_range& error) {
    // A number beyond any double; of its place only its digits are told, in quotes.
    const std::string_view what = error.what();
    const std::size_t open = what.find('\'') + 1;
    const std::string_view digits = what.substr(open, what.rfind('\'') - open);
    fail_inside(text, text.find(digits), file, line, fmt::format("the number {} is too large", digits));
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
