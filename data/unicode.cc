#include "data/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "data/utf8.h"

namespace shoal::data {
namespace {

struct Range {
  char32_t first, last;
};
struct LowerCase {
  char32_t from, to, then = 0;
};
#include "data/unicode_tables.inc"

constexpr char32_t kPoints = 0x110000;

// A byte a code point: one load instead of a search, filled in about a millisecond.
std::vector<std::uint8_t> make_classes() {
  std::vector<std::uint8_t> classes(kPoints);
  const auto mark = [&](std::span<const Range> ranges, CharClass bit) {
    for (const Range& range : ranges) {
      for (char32_t point = range.first; point <= range.last; ++point) classes[point] |= bit;
    }
  };
  mark(kRemovedRanges, kRemoved);
  mark(kSpaceRanges, kSpace);
  mark(kIdeographRanges, kIdeograph);
  mark(kMarkRanges, kMark);
  mark(kPunctuationRanges, kPunctuation);
  mark(kUnorderedRanges, kUnordered);
  return classes;
}

}  // namespace

std::uint8_t char_class(char32_t point) {
  static const std::vector<std::uint8_t> classes = make_classes();
  return classes[point];
}

int decompose(char32_t point, char32_t out[4]) {
  out[0] = point;
  for (const Range& range : kUndecomposedRanges) {
    if (point >= range.first && point <= range.last) return 1;
  }
  utf8proc_int32_t points[4];
  int boundary = 0;
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(point), points, 4, UTF8PROC_DECOMPOSE, &boundary);
  if (count < 1 || count > 4) return 1;  // a code point that utf8proc refuses stands for itself
  std::copy_n(points, count, out);
  return static_cast<int>(count);
}

int to_lower(char32_t point, char32_t out[2]) {
  const auto* exception = std::ranges::lower_bound(kLowerCaseExceptions, point, {}, &LowerCase::from);
  if (exception != std::end(kLowerCaseExceptions) && exception->from == point) {
    out[0] = exception->to;
    out[1] = exception->then;
    return exception->then != 0 ? 2 : 1;
  }
  out[0] = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point)));
  return 1;
}

int combining_class(char32_t point) {
  if (char_class(point) & kUnordered) return 0;
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(point))->combining_class;
}

std::string lower_case(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    char32_t lower[2];
    const int count = to_lower(decode_utf8(text, at), lower);
    for (int i = 0; i < count; ++i) append_utf8(out, lower[i]);
  }
  return out;
}

}  // namespace shoal::data
