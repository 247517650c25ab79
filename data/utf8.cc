#include "data/utf8.h"

#include <algorithm>
#include <cstring>

namespace shoal::data {
namespace {

// Bytes of the well-formed sequence at `at`, 0 if there is none.
std::size_t sequence_size(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  const std::size_t size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (size == 0 || size > text.size() - at) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(at + 1);
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f)) return 0;
  if ((lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) return 0;
  return size;
}

}  // namespace

std::size_t first_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t eight = 0;
    if (at + 8 <= text.size()) {
      std::memcpy(&eight, text.data() + at, 8);
      if ((eight & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    const std::size_t size = sequence_size(text, at);
    if (size == 0) return at;
    at += size;
  }
  return at;
}

std::size_t invalid_utf8_size(std::string_view text) {
  // Only the second byte depends on the first: where two or three are right, 0x80s complete them.
  for (std::size_t size = std::min<std::size_t>(text.size(), 3); size > 1; --size) {
    std::string whole(text.substr(0, size));
    while (whole.size() < 4) {
      whole += '\x80';
      if (sequence_size(whole, 0) == whole.size()) return size;
    }
  }
  return 1;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

}  // namespace shoal::data
