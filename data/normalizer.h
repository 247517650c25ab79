// BERT's normaliser and word splitter in one pass: text -> words, ready for WordPiece.
//
// In order, as Hugging Face's fast library does it: clean up (control characters dropped, all white space
// is a blank), each CJK ideograph alone, canonical decomposition without its non-spacing marks
// (strip_accents), lower case character by character; then words end at white space, and each
// punctuation character is a word. ASCII goes through a table of 128; nothing is allocated per word.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "data/utf8.h"

namespace shoal::data {

struct NormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

class Normalizer {
 public:
  explicit Normalizer(const NormalizerOptions& options);

  // Calls word(std::string_view bytes, std::size_t characters) for each word in order until it returns
  // false, and then returns false. Of a word with more than `most` characters, bytes holds only a part
  // (a text without blanks must not grow a buffer); characters is right. `text` must be UTF-8.
  template <typename WordSink>
  bool split(std::string_view text, std::size_t most, WordSink&& word) const;

 private:
  enum class Kind : std::uint8_t { kDrop, kLetter, kSpace, kPunctuation };
  struct Ascii {
    Kind kind = Kind::kDrop;
    char out = 0;
  };
  struct Piece {
    Kind kind = Kind::kDrop;
    char32_t point = 0;
  };
  // What one code point beyond ASCII becomes: at most an ideograph between two blanks, or four
  // decomposed code points of two lower-case ones each.
  using Pieces = std::array<Piece, 8>;

  // The word under construction.
  struct Word {
    std::string bytes;
    std::size_t characters = 0;
    std::size_t run = 0;  // bytes before this are not reordered: behind the last starter
  };

  int expand(char32_t point, Pieces& out) const;
  void append_letter(Word& word, char32_t point) const;

  NormalizerOptions options_;
  std::array<Ascii, 128> ascii_;
};

template <typename WordSink>
bool Normalizer::split(std::string_view text, std::size_t most, WordSink&& sink) const {
  Word word;
  const auto flush = [&] {
    if (word.characters == 0) return true;
    const bool more = sink(std::string_view(word.bytes), word.characters);
    word.bytes.clear();
    word.characters = 0;
    word.run = 0;
    return more;
  };
  Pieces pieces;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      ++at;
      const Ascii& ascii = ascii_[byte];
      if (ascii.kind == Kind::kLetter) {
        if (word.characters++ < most) word.bytes += ascii.out;
        word.run = word.bytes.size();
      } else if (ascii.kind == Kind::kSpace) {
        if (!flush()) return false;
      } else if (ascii.kind == Kind::kPunctuation) {
        if (!flush() || !sink(std::string_view(&ascii.out, 1), std::size_t{1})) return false;
      }
      continue;
    }
    const int count = expand(decode_utf8(text, at), pieces);
    for (int i = 0; i < count; ++i) {
      const Piece& piece = pieces[static_cast<std::size_t>(i)];
      if (piece.kind == Kind::kDrop) {
        word.run = word.bytes.size();
      } else if (piece.kind == Kind::kLetter) {
        if (word.characters++ < most) append_letter(word, piece.point);
      } else {
        if (!flush()) return false;
        if (piece.kind == Kind::kSpace) continue;
        append_letter(word, piece.point);
        word.characters = 1;
        if (!flush()) return false;
      }
    }
  }
  return flush();
}

}  // namespace shoal::data
