// vocab.txt, tokenizer.json, and files of the token cache. Where a vocabulary is read, the input is a text
// too.
#include <algorithm>
#include <string>

#include "data/text_decoder.h"
#include "data/token_cache.h"
#include "data/tokenizer.h"
#include "data/tokenizer_folder.h"
#include "data/utf8.h"
#include "tests/fuzz/target.h"

namespace shoal::fuzz {
namespace {

const std::string kSpecial = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";

void tokenize(const data::BertTokenizer& tokenizer, std::string_view bytes) {
  const std::string text = data::repair_utf8(bytes, data::EncodingErrors::kReplace);
  std::vector<std::int32_t> ids, same, cut;
  std::vector<data::TokenSpan> spans;
  const bool more = tokenizer.encode(text, cut, 5);
  tokenizer.encode(text, ids);
  tokenizer.encode_with_offsets(text, same, spans);
  promise(ids == same && spans.size() == ids.size(), "one tokenizer, two ways");
  promise(tokenizer.count(text) == ids.size(), "count() counts");
  promise(more == (ids.size() > 5) && std::equal(cut.begin(), cut.end(), ids.begin()), "a limit only cuts");
  const auto points = static_cast<std::int32_t>(data::count_code_points(text));
  for (const data::TokenSpan& span : spans)
    promise(span.begin >= 0 && span.begin < span.end && span.end <= points, "tokens stand in the text");
  for (const std::int32_t id : ids)
    promise(id >= 0 && id < tokenizer.vocabulary().size(), "ids are in the vocabulary");
}

// The first byte chooses options.
void read_vocabulary(std::string_view input) {
  if (input.empty()) return;
  const auto choice = static_cast<unsigned char>(input[0]);
  data::TokenizerOptions options;
  options.do_lower_case = choice & 1;
  if (choice & 2) options.strip_accents = (choice & 4) != 0;
  options.tokenize_chinese_chars = choice & 8;
  options.clean_text = choice & 16;
  const data::Vocabulary vocabulary = data::Vocabulary::parse(std::string(input.substr(1)), "vocab.txt");
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string_view token = vocabulary.token(id);
    promise(token.empty() || vocabulary.token(vocabulary.find(token)) == token, "a token is found");
  }
  tokenize(data::BertTokenizer(vocabulary, options), input);
}

void read_tokenizer_json(std::string_view input) {
  const std::filesystem::path file = input_file("tokenizer.json", input);
  tokenize(data::load_tokenizer(file.parent_path()), input);
}

void read_cache(std::string_view input) {
  static const data::BertTokenizer tokenizer(data::Vocabulary::parse(kSpecial + "a\nb\n", "vocab.txt"));
  static const std::filesystem::path text = input_file("f.tsv", "text\nb a\n");
  const std::filesystem::path folder = text.parent_path();
  input_file(data::cache_file(folder, text, tokenizer, nullptr, {}).filename().string(), input);
  const data::CachedDataset got = data::build_dataset_cached(folder, text, tokenizer, nullptr, {});
  promise(got.dataset.tokens == std::vector<std::int32_t>{2, 6, 5, 3}, "nothing made up is believed");
}

}  // namespace

std::vector<Target> tokenizer_targets() {
  const std::string json =
      R"({"version":"1.0","truncation":null,"padding":null,"added_tokens":[)"
      R"({"id":2,"content":"[CLS]","single_word":false,"lstrip":false,"special":true}],)"
      R"("normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,)"
      R"("strip_accents":null,"lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},)"
      R"("model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",)"
      R"("max_input_chars_per_word":100,"vocab":{"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,)"
      R"("[MASK]":4,"a":5,"##b":6}}})";
  std::vector<std::string> vocabularies;
  for (const char choice : {'\x1f', '\x18', '\x1b', '\x09'}) {
    for (const char* rest :
         {"a\n##b\nb\n##a\n", "caf\xc3\xa9\r\n\n\xe2\x80\xa8\n##\n\xe4\xb8\xad\n", "a\na\nA\n[\n]\n"})
      vocabularies.push_back(choice + kSpecial + rest);
    vocabularies.push_back(choice + ("e\xcc\x81\n" + kSpecial) +
                           "\xe1\x84\x92\n##\xe1\x85\xa1\n\xf0\x9d\x85\x9e\n");
  }
  return {{"vocab_txt", read_vocabulary, vocabularies},
          {"tokenizer_json", read_tokenizer_json, {json, "{}", "[1]", "{\"model\":{\"type\":\"BPE\"}}"}},
          {"token_cache",
           read_cache,
           {std::string("shoaltok\1\0\0\0\0\0\0\0", 16) + std::string(120, '\0'), ""}}};
}

}  // namespace shoal::fuzz
