#include "data/text_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "data/unicode.h"
#include "data/utf8.h"
#include "kernels/base/error.h"

namespace shoal::data {
namespace {

constexpr std::size_t kMostNamesShown = 20;
constexpr std::size_t kMostCharactersShown = 60;

std::u32string lower_points(std::string_view text) {
  const std::string lower = lower_case(text);
  std::u32string out;
  for (std::size_t at = 0; at < lower.size();) out += decode_utf8(lower, at);
  return out;
}

// Edits (insert, delete, change, swap of neighbours) from a to b, over code points.
std::size_t edit_distance(const std::u32string& a, const std::u32string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

void fail_at(const std::filesystem::path& file, std::int64_t line, std::int64_t column,
             std::string_view what) {
  std::string where = file.string();
  if (line > 0) where += fmt::format(":{}", line);
  if (line > 0 && column > 0) where += fmt::format(":{}", column);
  throw Error(fmt::format("{}: error: {}", where, what));
}

std::string nearest_name(std::string_view wanted, std::span<const std::string> names) {
  const std::u32string from = lower_points(wanted);
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, from.size() / 3) + 1;
  for (const std::string& name : names) {
    const std::u32string to = lower_points(name);
    const std::size_t gap = from.size() > to.size() ? from.size() - to.size() : to.size() - from.size();
    if (gap >= best_distance) continue;
    const std::size_t distance = edit_distance(from, to);
    // At least one character must be right: every name of one letter is one edit from every other.
    if (distance < best_distance && distance < std::max(from.size(), to.size())) {
      best = name;
      best_distance = distance;
    }
  }
  return std::string(best);
}

std::string allowed_and_nearest(std::string_view wanted, std::span<const std::string> names) {
  if (names.empty()) return {};
  std::string out = "; allowed: ";
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamesShown); ++i) {
    out += (i ? ", " : "") + names[i];
  }
  if (names.size() > kMostNamesShown) out += fmt::format(", ... ({} in all)", names.size());
  if (const std::string near = nearest_name(wanted, names); !near.empty()) {
    out += fmt::format("; did you mean {}?", in_quotes(near));
  }
  return out;
}

std::string in_quotes(std::string_view value) {
  std::string out = "'";
  std::size_t shown = 0;
  for (std::size_t at = 0; at < value.size(); ++shown) {
    if (shown == kMostCharactersShown) return out + "...'";
    const char32_t point = decode_utf8(value, at);
    if (point == '\n' || point == '\t' || point == '\r') {
      out += point == '\n' ? "\\n" : point == '\t' ? "\\t" : "\\r";
    } else if (point < 0x20 || (point >= 0x7f && point < 0xa0)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(point));
    } else {
      append_utf8(out, point);
    }
  }
  return out + "'";
}

}  // namespace shoal::data
