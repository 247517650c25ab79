// What Hugging Face's `tokenizers` library takes a code point for.
//
// That library's tables come from several old versions of Unicode (newer marks and punctuation are plain
// letters there), and BERT's ids depend on them. So the classes come from a generated table
// (unicode_tables.inc, made by make_unicode_tables.py by asking the library about every code point);
// decomposition and lower case come from utf8proc, with the exceptions from the same table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::data {

enum CharClass : std::uint8_t {
  kRemoved = 1,       // dropped by the clean-up: control, format, private use, U+0000, U+FFFD
  kSpace = 2,         // separates words
  kIdeograph = 4,     // CJK: stands alone
  kMark = 8,          // non-spacing mark: dropped when accents are stripped
  kPunctuation = 16,  // stands alone
  kUnordered = 32     // a mark by utf8proc, but of combining class 0 there
};

// Bits of CharClass; any value up to U+10FFFF.
std::uint8_t char_class(char32_t point);

// Full canonical decomposition, at most 4 code points; returns their number.
int decompose(char32_t point, char32_t out[4]);

// Lower case, at most 2 code points, without regard to context; returns their number.
int to_lower(char32_t point, char32_t out[2]);

// Canonical combining class, 0 for all but marks.
int combining_class(char32_t point);

// A text in lower case, to compare without regard to case. `text` must be UTF-8.
std::string lower_case(std::string_view text);

}  // namespace shoal::data
