#include "data/tokenizer.h"

#include <algorithm>

#include "kernels/base/error.h"

namespace shoal::data {
namespace {

NormalizerOptions normalizer_options(const TokenizerOptions& options) {
  return {.clean_text = options.clean_text,
          .handle_chinese_chars = options.tokenize_chinese_chars,
          .strip_accents = options.strip_accents.value_or(options.do_lower_case),
          .lowercase = options.do_lower_case};
}

}  // namespace

BertTokenizer::BertTokenizer(Vocabulary vocabulary, const TokenizerOptions& options)
    : vocabulary_(std::move(vocabulary)), options_(options), normalizer_(normalizer_options(options)) {
  require(options.max_chars_per_word > 0, "tokenizer: max_chars_per_word is {}, wanted > 0",
          options.max_chars_per_word);
}

// The special token that `text` starts with, or -1. None of them is the beginning of another.
std::int32_t BertTokenizer::special_at(std::string_view text) const {
  for (const std::int32_t id :
       {vocabulary_.pad(), vocabulary_.unk(), vocabulary_.cls(), vocabulary_.sep(), vocabulary_.mask()}) {
    if (text.starts_with(vocabulary_.token(id))) return id;
  }
  return -1;
}

// Longest piece first, from the front. One piece missing makes the whole word unknown.
void BertTokenizer::append_word(std::string_view word, std::size_t characters,
                                std::vector<std::int32_t>& ids) const {
  const std::size_t mark = ids.size();
  bool known = characters <= static_cast<std::size_t>(options_.max_chars_per_word);
  for (std::size_t begin = 0; known && begin < word.size();) {
    std::size_t size = std::min(word.size() - begin, vocabulary_.longest());
    std::int32_t id = -1;
    for (; size > 0; --size) {
      const std::size_t end = begin + size;
      const bool inside = end < word.size() && (static_cast<unsigned char>(word[end]) & 0xc0) == 0x80;
      if (inside) continue;
      const std::string_view piece = word.substr(begin, size);
      id = begin == 0 ? vocabulary_.find(piece) : vocabulary_.find_inner(piece);
      if (id >= 0) break;
    }
    known = id >= 0;
    if (known) ids.push_back(id);
    begin += size;
  }
  if (known) return;
  ids.resize(mark);
  ids.push_back(vocabulary_.unk());
}

// Appends the ids of word after word; goes on while more() says so.
template <typename AfterWord>
void BertTokenizer::walk(std::string_view text, std::vector<std::int32_t>& ids, AfterWord&& more) const {
  const auto append = [&](std::string_view word, std::size_t characters) {
    append_word(word, characters, ids);
    return more();
  };
  const auto most = static_cast<std::size_t>(options_.max_chars_per_word);
  for_each_part(
      text, [&](std::string_view part) { return normalizer_.split(part, most, append); },
      [&](std::int32_t id) {
        ids.push_back(id);
        return more();
      });
}

bool BertTokenizer::encode(std::string_view text, std::vector<std::int32_t>& ids, std::size_t limit) const {
  const std::size_t start = ids.size();
  walk(text, ids, [&] { return ids.size() - start <= limit; });
  if (ids.size() - start <= limit) return false;
  ids.resize(start + limit);
  return true;
}

std::size_t BertTokenizer::count(std::string_view text) const {
  std::vector<std::int32_t> word;
  std::size_t count = 0;
  walk(text, word, [&] {
    count += word.size();
    word.clear();
    return true;
  });
  return count;
}

}  // namespace shoal::data
