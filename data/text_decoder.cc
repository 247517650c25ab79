#include "data/text_decoder.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>

#include "data/text_error.h"
#include "data/utf8.h"
#include "kernels/base/error.h"

namespace shoal::data {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

::iconv_t none() {
  return reinterpret_cast<::iconv_t>(-1);
}

// Python separates with "_" or "-" where iconv has "-" or nothing: latin_1, iso8859_15, shift_jis. A name
// with a slash would pass options to iconv, an empty one means the locale's.
::iconv_t open_converter(std::string_view name, bool to_utf8) {
  const auto open = [&](const std::string& spelling) {
    return to_utf8 ? ::iconv_open("UTF-8", spelling.c_str()) : ::iconv_open(spelling.c_str(), "UTF-8");
  };
  const bool plain = std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == ':' || c == '+' || c == '(' ||
           c == ')';
  });
  if (name.empty() || !plain) return none();
  const std::string as_written(name);
  std::string dashes = as_written, bare;
  std::ranges::replace(dashes, '_', '-');
  std::ranges::copy_if(dashes, std::back_inserter(bare), [](char c) { return c != '-'; });
  for (const std::string& spelling : {as_written, dashes, bare}) {
    if (const ::iconv_t converter = open(spelling); converter != none()) return converter;
  }
  return none();
}

// Bytes that a further "a" takes: 2 in UTF-16, 1 where bytes are characters or shift between sets.
std::size_t unit_of(std::string_view name) {
  const ::iconv_t converter = open_converter(name, false);
  if (converter == none()) return 1;
  const auto size = [&](std::string text) {
    std::array<char, 64> out{};
    char *from = text.data(), *to = out.data();
    std::size_t from_left = text.size(), to_left = out.size();
    ::iconv(converter, nullptr, nullptr, nullptr, nullptr);
    ::iconv(converter, &from, &from_left, &to, &to_left);
    return out.size() - to_left;
  };
  const std::size_t one = size("a"), two = size("aa");
  ::iconv_close(converter);
  return std::max<std::size_t>(1, two - one);
}

}  // namespace

EncodingErrors parse_encoding_errors(std::string_view name) {
  if (name == "strict") return EncodingErrors::kStrict;
  if (name == "replace") return EncodingErrors::kReplace;
  if (name == "ignore") return EncodingErrors::kIgnore;
  fail("encoding_errors is {}; allowed: strict, replace, ignore", in_quotes(name));
}

bool names_utf8(std::string_view name) {
  std::string bare;
  for (const char c : name) {
    if (c != '-' && c != '_') bare += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return bare == "utf8" || bare == "utf8sig";
}

bool known_encoding(std::string_view name) {
  if (names_utf8(name)) return true;
  const ::iconv_t converter = open_converter(name, true);
  if (converter == none()) return false;
  ::iconv_close(converter);
  return true;
}

std::string repair_utf8(std::string_view text, EncodingErrors errors) {
  std::string out;
  while (true) {
    const std::size_t good = first_invalid_utf8(text);
    out += text.substr(0, good);
    if (good == text.size()) return out;
    if (errors == EncodingErrors::kReplace) out += kReplacement;
    text.remove_prefix(good + invalid_utf8_size(text.substr(good)));
  }
}

TextDecoder::TextDecoder(std::string_view encoding, EncodingErrors errors)
    : converter_(open_converter(encoding, true)), errors_(errors), unit_(unit_of(encoding)) {
  require(converter_ != none(),
          "encoding {} is not known; allowed: utf-8, latin-1, windows-1252, utf-16, gb18030 and all that "
          "`iconv -l` lists",
          in_quotes(encoding));
}

TextDecoder::~TextDecoder() {
  ::iconv_close(converter_);
}

bool TextDecoder::decode(std::string_view bytes, bool last, std::string& to) {
  left_ += bytes;
  char* from = left_.data();
  std::size_t from_left = left_.size();
  std::array<char, 16384> block;
  bool flushing = false;
  while (true) {
    char* out = block.data();
    std::size_t room = block.size();
    const std::size_t done = flushing ? ::iconv(converter_, nullptr, nullptr, &out, &room)
                                      : ::iconv(converter_, &from, &from_left, &out, &room);
    const int code = errno;
    to.append(block.data(), block.size() - room);
    if (done != static_cast<std::size_t>(-1)) {
      if (flushing || !last) break;
      flushing = true;  // some encodings hold back a character that the next may combine with
    } else if (code == E2BIG) {
      continue;
    } else if (code == EINVAL && !last) {
      break;
    } else {  // EILSEQ, or the file ends inside a character
      const std::size_t skip = code == EINVAL ? from_left : std::min(unit_, from_left);
      if (errors_ == EncodingErrors::kStrict) {
        fault_.assign(from, skip);
        return false;
      }
      if (errors_ == EncodingErrors::kReplace) to += kReplacement;
      from += skip;
      from_left -= skip;
    }
  }
  left_.erase(0, left_.size() - from_left);
  return true;
}

}  // namespace shoal::data
