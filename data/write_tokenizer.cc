#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/text_error.h"
#include "data/tokenizer_folder.h"

namespace shoal::data {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

void write_file(const fs::path& file, std::string_view bytes) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (out.fail()) fail_at(file, 0, 0, "cannot be written");
}

ordered_json added_tokens(const Vocabulary& vocabulary) {
  std::vector<std::int32_t> ids = {vocabulary.pad(), vocabulary.unk(), vocabulary.cls(), vocabulary.sep(),
                                   vocabulary.mask()};
  std::sort(ids.begin(), ids.end());
  ordered_json list = ordered_json::array();
  for (const std::int32_t id : ids) {
    list.push_back({{"id", id},
                    {"content", vocabulary.token(id)},
                    {"single_word", false},
                    {"lstrip", false},
                    {"rstrip", false},
                    {"normalized", false},
                    {"special", true}});
  }
  return list;
}

ordered_json post_processor(const Vocabulary& vocabulary) {
  const auto special = [](std::string_view token, int type) {
    return ordered_json{{"SpecialToken", {{"id", token}, {"type_id", type}}}};
  };
  const auto sequence = [](const char* name, int type) {
    return ordered_json{{"Sequence", {{"id", name}, {"type_id", type}}}};
  };
  const auto entry = [](std::string_view token, std::int32_t id) {
    return ordered_json{{"id", token}, {"ids", {id}}, {"tokens", {token}}};
  };
  constexpr std::string_view cls = Vocabulary::kCls, sep = Vocabulary::kSep;
  return {{"type", "TemplateProcessing"},
          {"single", {special(cls, 0), sequence("A", 0), special(sep, 0)}},
          {"pair", {special(cls, 0), sequence("A", 0), special(sep, 0), sequence("B", 1), special(sep, 1)}},
          {"special_tokens", {{cls, entry(cls, vocabulary.cls())}, {sep, entry(sep, vocabulary.sep())}}}};
}

// In id order, as HF writes it. Appended to the vector beneath: operator[] looks through all keys for
// each new one, which takes a second for 30,000.
ordered_json vocab_object(const Vocabulary& vocabulary) {
  ordered_json object = ordered_json::object();
  auto& members = object.get_ref<ordered_json::object_t&>();
  using Container = ordered_json::object_t::Container;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string_view token = vocabulary.token(id);
    if (token.empty() || vocabulary.find(token) != id) continue;
    static_cast<Container&>(members).emplace_back(std::string(token), id);
  }
  return object;
}

ordered_json strip_accents_value(const TokenizerOptions& options) {
  return options.strip_accents ? ordered_json(*options.strip_accents) : ordered_json(nullptr);
}

ordered_json tokenizer_json(const Vocabulary& vocabulary, const TokenizerOptions& options) {
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added_tokens(vocabulary)},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", options.clean_text},
            {"handle_chinese_chars", options.tokenize_chinese_chars},
            {"strip_accents", strip_accents_value(options)},
            {"lowercase", options.do_lower_case}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor", post_processor(vocabulary)},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", Vocabulary::kUnk},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", options.max_chars_per_word},
            {"vocab", vocab_object(vocabulary)}}}};
}

}  // namespace

void write_tokenizer(const fs::path& folder, const BertTokenizer& tokenizer, std::int64_t model_max_length) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  const TokenizerOptions& options = tokenizer.options();
  // transformers builds the class BertTokenizer anew with these two at their defaults; only the generic
  // class takes tokenizer.json as it stands.
  const bool plain = options.clean_text && options.max_chars_per_word == 100;
  const ordered_json config = {{"tokenizer_class", plain ? "BertTokenizer" : "PreTrainedTokenizerFast"},
                               {"do_lower_case", options.do_lower_case},
                               {"strip_accents", strip_accents_value(options)},
                               {"tokenize_chinese_chars", options.tokenize_chinese_chars},
                               {"model_max_length", model_max_length},
                               {"model_input_names", {"input_ids", "token_type_ids", "attention_mask"}},
                               {"pad_token", Vocabulary::kPad},
                               {"unk_token", Vocabulary::kUnk},
                               {"cls_token", Vocabulary::kCls},
                               {"sep_token", Vocabulary::kSep},
                               {"mask_token", Vocabulary::kMask}};
  write_file(folder / "vocab.txt", vocabulary.bytes());
  write_file(folder / "tokenizer.json", tokenizer_json(vocabulary, options).dump(2) + "\n");
  write_file(folder / "tokenizer_config.json", config.dump(2) + "\n");
}

}  // namespace shoal::data
