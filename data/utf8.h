// UTF-8, as far as reading text needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::data {

// Offset of the first byte that does not belong to well-formed UTF-8 (no surrogates, nothing overlong,
// nothing beyond U+10FFFF); text.size() if there is none.
std::size_t first_invalid_utf8(std::string_view text);

// Bytes of the stretch that is not UTF-8 at the start of `text`, as the Unicode standard advises to cut it:
// the longest beginning of a well-formed sequence, else one byte. `text` starts with a fault.
std::size_t invalid_utf8_size(std::string_view text);

// Code points of well-formed UTF-8.
std::size_t count_code_points(std::string_view text);

// Decodes the code point at `at` (< text.size()) and moves `at` behind it. The text must be well formed
// up to its end; a sequence that the end cuts short gives U+FFFD.
inline char32_t decode_utf8(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(at);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (size > text.size() - at) {
    at = text.size();
    return 0xfffd;
  }
  char32_t point = size == 1 ? lead : lead & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) point = point << 6 | (byte(at + i) & 0x3fu);
  at += size;
  return point <= 0x10ffff ? point : 0xfffd;
}

inline void append_utf8(std::string& to, char32_t point) {
  if (point < 0x80) {
    to += static_cast<char>(point);
  } else if (point < 0x800) {
    to += static_cast<char>(0xc0 | point >> 6);
    to += static_cast<char>(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    to += static_cast<char>(0xe0 | point >> 12);
    to += static_cast<char>(0x80 | (point >> 6 & 0x3f));
    to += static_cast<char>(0x80 | (point & 0x3f));
  } else {
    to += static_cast<char>(0xf0 | point >> 18);
    to += static_cast<char>(0x80 | (point >> 12 & 0x3f));
    to += static_cast<char>(0x80 | (point >> 6 & 0x3f));
    to += static_cast<char>(0x80 | (point & 0x3f));
  }
}

}  // namespace shoal::data
