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

class BertTokenizer {
 public:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  explicit BertTokenizer(Vocabulary vocabulary, const TokenizerOptions& options = {});

  // Appends the ids of `text` to `ids`, without [CLS] and [SEP]; stops after `limit` ids and does not
  // look at the rest of the text. Returns true if that cut off tokens. `text` must be UTF-8.
  bool encode(std::string_view text, std::vector<std::int32_t>& ids, std::size_t limit = kNoLimit) const;

  // How many ids encode() gives without a limit; in bounded memory.
  std::size_t count(std::string_view text) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const TokenizerOptions& options() const { return options_; }

 private:
  template <typename AfterWord>
  void walk(std::string_view text, std::vector<std::int32_t>& ids, AfterWord&& more) const;
  void append_word(std::string_view word, std::size_t characters, std::vector<std::int32_t>& ids) const;
  std::int32_t special_at(std::string_view text) const;

  Vocabulary vocabulary_;
  TokenizerOptions options_;
  Normalizer normalizer_;
};

}  // namespace shoal::data
