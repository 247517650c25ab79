// Where in the original text each token stands. This goes by the library's own steps, one after the
// other, each code point carrying the place it came from; encode(), which is the fast way, drops and folds
// on the fly and knows no places. That both give the same ids is a test
// (tests/data/tokenizer_parity_test.cc).
#include <algorithm>
#include <string>
#include <vector>

#include "data/tokenizer.h"
#include "data/unicode.h"

namespace shoal::data {
namespace {

// A code point on its way through the normaliser.
struct Letter {
  char32_t point = 0;
  std::int32_t from = 0;  // index in the original text
};
using Letters = std::vector<Letter>;

Letters clean(std::string_view text, std::int32_t first, bool clean_text) {
  Letters out;
  for (std::size_t at = 0; at < text.size(); ++first) {
    const char32_t point = decode_utf8(text, at);
    if (!clean_text || !(char_class(point) & kRemoved)) out.push_back({point, first});
  }
  return out;
}

Letters set_ideographs_apart(const Letters& letters) {
  Letters out;
  for (const Letter& letter : letters) {
    const bool alone = char_class(letter.point) & kIdeograph;
    if (alone) out.push_back({' ', letter.from});
    out.push_back(letter);
    if (alone) out.push_back({' ', letter.from});
  }
  return out;
}

// Decomposition in canonical order, then without the non-spacing marks. As the library has it, places
// are dealt out after ordering: each code point that is not the further part of another takes the next.
Letters strip_accents(const Letters& letters) {
  struct Part {
    char32_t point;
    int order;
    bool further;
  };
  std::vector<Part> parts;
  std::size_t run = 0;  // start of the marks that may be reordered
  const auto order_run = [&] {
    std::stable_sort(parts.begin() + static_cast<std::ptrdiff_t>(run), parts.end(),
                     [](const Part& a, const Part& b) { return a.order < b.order; });
  };
  for (const Letter& letter : letters) {
    char32_t points[4];
    const int count = decompose(letter.point, points);
    for (int i = 0; i < count; ++i) {
      const int order = combining_class(points[i]);
      if (order == 0) {
        order_run();
        run = parts.size() + 1;
      }
      parts.push_back({points[i], order, i > 0});
    }
  }
  order_run();
  Letters out;
  std::size_t next = 0;
  for (const Part& part : parts) {
    next += part.further ? 0 : 1;
    if (!(char_class(part.point) & kMark))
      out.push_back({part.point, letters[next == 0 ? 0 : next - 1].from});
  }
  return out;
}

Letters in_lower_case(const Letters& letters) {
  Letters out;
  for (const Letter& letter : letters) {
    char32_t lower[2];
    const int count = to_lower(letter.point, lower);
    for (int i = 0; i < count; ++i) out.push_back({lower[i], letter.from});
  }
  return out;
}

}  // namespace

void BertTokenizer::encode_with_offsets(std::string_view text, std::vector<std::int32_t>& ids,
                                        std::vector<TokenSpan>& spans) const {
  std::string word;
  std::vector<std::int32_t> from;  // of each byte of the word
  std::size_t characters = 0;
  const auto flush = [&] {
    if (word.empty()) return;
    const std::size_t mark = ids.size();
    append_word(word, characters, ids);
    std::size_t at = 0;
    for (std::size_t i = mark; i < ids.size(); ++i) {
      const std::size_t token = vocabulary_.token(ids[i]).size() - (at > 0 ? Vocabulary::kInner.size() : 0);
      const std::size_t size = ids[i] == vocabulary_.unk() ? word.size() : token;
      spans.push_back({from[at], from[at + size - 1] + 1});
      at += size;
    }
    word.clear();
    from.clear();
    characters = 0;
  };
  const auto append = [&](const Letter& letter) {
    append_utf8(word, letter.point);
    from.resize(word.size(), letter.from);
    ++characters;
  };
  std::int32_t place = 0;  // in code points of the original
  const auto plain = [&](std::string_view part) {
    Letters letters = clean(part, place, options_.clean_text);
    if (options_.tokenize_chinese_chars) letters = set_ideographs_apart(letters);
    if (options_.strip_accents.value_or(options_.do_lower_case)) letters = strip_accents(letters);
    if (options_.do_lower_case) letters = in_lower_case(letters);
    for (const Letter& letter : letters) {
      const std::uint8_t bits = char_class(letter.point);
      if (bits & (kSpace | kPunctuation)) flush();
      if (bits & kSpace) continue;
      append(letter);
      if (bits & kPunctuation) flush();
    }
    flush();
    place += static_cast<std::int32_t>(count_code_points(part));
    return true;
  };
  const auto special = [&](std::int32_t id) {
    const auto size = static_cast<std::int32_t>(vocabulary_.token(id).size());
    ids.push_back(id);
    spans.push_back({place, place + size});
    place += size;
    return true;
  };
  for_each_part(text, plain, special);
}

}  // namespace shoal::data
