#include "cli/styled_line.h"

#include <utf8proc.h>

#include <algorithm>

#include "data/utf8.h"

namespace shoal::cli {
namespace {

constexpr std::string_view kCut = "...";

// Bytes of the longest start of `text` that is at most `columns` wide.
std::size_t fitting(std::string_view text, int columns) {
  std::size_t at = 0;
  int width = 0;
  while (at < text.size()) {
    std::size_t next = at;
    width += utf8proc_charwidth(static_cast<utf8proc_int32_t>(data::decode_utf8(text, next)));
    if (width > columns) break;
    at = next;
  }
  return at;
}

std::string cut(std::string_view text, int columns) {
  if (text_width(text) <= columns) return std::string(text);
  const int room = std::max(0, columns - static_cast<int>(kCut.size()));
  return std::string(text.substr(0, fitting(text, room))) +
         std::string(kCut.substr(0, static_cast<std::size_t>(std::clamp(columns, 0, 3))));
}

std::string_view code(Style style) {
  switch (style) {
    case Style::kFaint:
      return "\x1b[2m";
    case Style::kBar:
      return "\x1b[36m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kBad:
      return "\x1b[31m";
    case Style::kPlain:
      break;
  }
  return {};
}

}  // namespace

int text_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    width += utf8proc_charwidth(static_cast<utf8proc_int32_t>(data::decode_utf8(text, at)));
  }
  return width;
}

std::string padded(std::string_view text, int columns, bool right) {
  const std::string kept = cut(text, columns);
  const std::string blanks(static_cast<std::size_t>(std::max(0, columns - text_width(kept))), ' ');
  return right ? blanks + kept : kept + blanks;
}

StyledLine& StyledLine::add(std::string_view text, Style style) {
  pieces_.push_back({std::string(text), style});
  return *this;
}

std::string StyledLine::render(int columns, bool color) const {
  std::string out;
  int left = columns;
  for (const Piece& piece : pieces_) {
    const int width = text_width(piece.text);
    if (piece.text.empty()) continue;
    const std::string text = cut(piece.text, left);
    const std::string_view start = color ? code(piece.style) : std::string_view();
    out += start;
    out += text;
    if (!start.empty()) out += "\x1b[0m";
    left -= std::min(width, left);
    if (left <= 0) break;
  }
  return out;
}

}  // namespace shoal::cli
