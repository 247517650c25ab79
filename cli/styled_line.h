// A line of coloured pieces, cut to the width of a terminal. A line that wraps would break the live view,
// which counts lines to find its way back up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::cli {

enum class Style : std::uint8_t { kPlain, kFaint, kBar, kGood, kBad };

class StyledLine {
 public:
  StyledLine& add(std::string_view text, Style style = Style::kPlain);
  // At most `columns` wide, with "..." where it was cut.
  std::string render(int columns, bool color) const;

 private:
  struct Piece {
    std::string text;
    Style style;
  };
  std::vector<Piece> pieces_;
};

// Columns that a text takes; a CJK character takes two, a combining mark none.
int text_width(std::string_view text);
// The text with blanks to `columns`, or cut to them. `right`: blanks in front.
std::string padded(std::string_view text, int columns, bool right = false);

}  // namespace shoal::cli
