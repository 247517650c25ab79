#include "data/normalizer.h"

#include "data/unicode.h"

namespace shoal::data {

Normalizer::Normalizer(const NormalizerOptions& options) : options_(options) {
  for (std::size_t c = 0; c < ascii_.size(); ++c) {
    const std::uint8_t bits = char_class(static_cast<char32_t>(c));
    const bool upper = c >= 'A' && c <= 'Z';
    ascii_[c].out = static_cast<char>(upper && options.lowercase ? c + ('a' - 'A') : c);
    ascii_[c].kind = options.clean_text && (bits & kRemoved) ? Kind::kDrop
                     : bits & kSpace                         ? Kind::kSpace
                     : bits & kPunctuation                   ? Kind::kPunctuation
                                                             : Kind::kLetter;
  }
}

// Pieces of kind kDrop are marks that were stripped: those of combining class 0 still end a run of
// marks that may be reordered.
int Normalizer::expand(char32_t point, Pieces& out) const {
  std::uint8_t bits = char_class(point);
  if (options_.clean_text && (bits & kRemoved)) return 0;
  if (bits & kSpace) {
    out[0] = {Kind::kSpace, point};
    return 1;
  }
  const bool alone = options_.handle_chinese_chars && (bits & kIdeograph);
  char32_t parts[4] = {point};
  const int part_count = options_.strip_accents ? decompose(point, parts) : 1;
  std::size_t count = 0;
  if (alone) out[count++] = {Kind::kSpace, ' '};
  for (int i = 0; i < part_count; ++i) {
    if (options_.strip_accents && (char_class(parts[i]) & kMark)) {
      if (combining_class(parts[i]) == 0) out[count++] = {Kind::kDrop, 0};
      continue;
    }
    char32_t lower[2] = {parts[i]};
    const int lower_count = options_.lowercase ? to_lower(parts[i], lower) : 1;
    for (int k = 0; k < lower_count; ++k) {
      bits = char_class(lower[k]);
      out[count++] = {bits & kSpace         ? Kind::kSpace
                      : bits & kPunctuation ? Kind::kPunctuation
                                            : Kind::kLetter,
                      lower[k]};
    }
  }
  if (alone) out[count++] = {Kind::kSpace, ' '};
  return static_cast<int>(count);
}

// Canonical order: a mark goes before those of higher class that directly precede it. Only a
// decomposed text is ordered, and only spacing marks are left of it: rare, so found by walking back.
void Normalizer::append_letter(Word& word, char32_t point) const {
  const int order = options_.strip_accents ? combining_class(point) : 0;
  std::size_t place = word.bytes.size();
  if (order > 0) {
    while (place > word.run) {
      std::size_t before = place - 1;
      while (before > word.run && (static_cast<unsigned char>(word.bytes[before]) & 0xc0) == 0x80) --before;
      std::size_t at = before;
      if (combining_class(decode_utf8(word.bytes, at)) <= order) break;
      place = before;
    }
  }
  std::string encoded;  // at most four bytes: no allocation
  append_utf8(encoded, point);
  word.bytes.insert(place, encoded);
  if (order == 0) word.run = word.bytes.size();
}

}  // namespace shoal::data
