// BERT's tokenizer: text -> token ids, as Hugging Face's fast `tokenizers` library has it.
//
// Special tokens typed in the text ([SEP], [MASK], ...; upper case as written) become the control id,
// also when glued to other text; they never change token types, which the caller lays out. The rest is
// normalised and split (data/normalizer.h), and each word cut into WordPieces, longest first; a word of
// more than 100 characters, or without a complete cut, is one [UNK].
// The same function serves training and prediction. Const and without a lock: threads may share one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "data/normalizer.h"
#include "data/vocabulary.h"

namespace shoal::data {

// The names are those of tokenizer_config.json; clean_text and max_chars_per_word stand in tokenizer.json.
struct TokenizerOptions {
  bool do_lower_case = true;
  std::optional<bool> strip_accents = {};  // unset: as do_lower_case
  bool tokenize_chinese_chars = true;
  bool clean_text = true;
  int max_chars_per_word = 100;                       // code points after normalisation
  std::optional<std::int64_t> model_max_length = {};  // as the folder says it; encode() does not cut by it
};

// Where a token stands: code points [begin, end) of the original text.
struct TokenSpan {
  std::int32_t begin = 0;
  std::int32_t end = 0;

  bool operator==(const TokenSpan&) const = default;
};

class BertTokenizer {
 public:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  explicit BertTokenizer(Vocabulary vocabulary, const TokenizerOptions& options = {});

  // Appends the ids of `text` to `ids`, without [CLS] and [SEP]; stops after `limit` ids and does not
  // look at the rest of the text. Returns true if that cut off tokens. `text` must be UTF-8.
  bool encode(std::string_view text, std::vector<std::int32_t>& ids, std::size_t limit = kNoLimit) const;

  // How many ids encode() gives without a limit; in bounded memory.
  std::size_t count(std::string_view text) const;

  // The same ids, all of them, and where each stands in `text`: equal to the library's offsets. Code points
  // that the normaliser drops belong to no token unless they stand inside one. Slower than encode().
  void encode_with_offsets(std::string_view text, std::vector<std::int32_t>& ids,
                           std::vector<TokenSpan>& spans) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const TokenizerOptions& options() const { return options_; }

 private:
  template <typename Plain, typename Special>
  void for_each_part(std::string_view text, Plain&& plain, Special&& special) const;
  template <typename AfterWord>
  void walk(std::string_view text, std::vector<std::int32_t>& ids, AfterWord&& more) const;
  void append_word(std::string_view word, std::size_t characters, std::vector<std::int32_t>& ids) const;
  std::int32_t special_at(std::string_view text) const;

  Vocabulary vocabulary_;
  TokenizerOptions options_;
  Normalizer normalizer_;
};

// Calls plain(std::string_view) and special(id) for what stands between special tokens and for these, in
// order, until one returns false.
template <typename Plain, typename Special>
void BertTokenizer::for_each_part(std::string_view text, Plain&& plain, Special&& special) const {
  std::size_t begin = 0;
  for (std::size_t at = text.find('['); at != std::string_view::npos; at = text.find('[', at)) {
    const std::int32_t id = special_at(text.substr(at));
    if (id < 0) {
      ++at;
      continue;
    }
    if (!plain(text.substr(begin, at - begin)) || !special(id)) return;
    at += vocabulary_.token(id).size();
    begin = at;
  }
  plain(text.substr(begin));
}

}  // namespace shoal::data
