// From the bytes of a file in some character encoding to UTF-8, piece by piece, by libc's iconv.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::data {

// What is done with bytes that the encoding does not have, as Python names it.
enum class EncodingErrors : std::uint8_t {
  kStrict,   // the file is refused
  kReplace,  // U+FFFD
  kIgnore,   // dropped
};

// "strict", "replace" or "ignore"; Error for anything else.
EncodingErrors parse_encoding_errors(std::string_view name);

// Whether `name` means UTF-8 ("utf8", "UTF_8", "utf-8-sig", ...), which needs no decoder.
bool names_utf8(std::string_view name);

// Whether there is a decoder for `name`: one that iconv knows, or its spelling in Python ("latin_1").
bool known_encoding(std::string_view name);

// `text` with each stretch that is not UTF-8 replaced by one U+FFFD (as Python and the Unicode standard
// cut them) or dropped. `errors` is not kStrict.
std::string repair_utf8(std::string_view text, EncodingErrors errors);

class TextDecoder {
 public:
  TextDecoder(std::string_view encoding, EncodingErrors errors);  // Error if the name is not known
  ~TextDecoder();
  TextDecoder(const TextDecoder&) = delete;
  TextDecoder& operator=(const TextDecoder&) = delete;

  // Appends `bytes` to `to` as UTF-8. A character that is not complete yet waits for the next call, or is
  // a fault where this is the `last`. kStrict: stops at the first fault and returns false; the bytes at
  // fault are fault(), `to` holds all before them.
  bool decode(std::string_view bytes, bool last, std::string& to);
  std::string_view fault() const { return fault_; }

 private:
  void* converter_;
  EncodingErrors errors_;
  std::size_t unit_;  // bytes of the shortest character: what is skipped at a fault
  std::string left_;  // of a character that is not complete
  std::string fault_;
};

}  // namespace shoal::data
