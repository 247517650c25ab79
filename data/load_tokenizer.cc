#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data/json_file.h"
#include "data/text_error.h"
#include "data/tokenizer_folder.h"
#include "kernels/base/error.h"

namespace shoal::data {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// A vocabulary is memory: an id beyond this is a broken file, not a large model.
constexpr std::int64_t kMostIds = std::int64_t{1} << 24;

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

void read_flag(const fs::path& file, const json& object, const char* key, bool& to) {
  const json* value = member(object, key);
  if (value == nullptr) return;
  if (!value->is_boolean())
    fail_at(file, 0, 0, fmt::format("\"{}\" is {}, wanted true or false", key, value->dump()));
  to = value->get<bool>();
}

// strip_accents has three values: null is "as lower case", and is what a file without it means.
void read_strip_accents(const fs::path& file, const json& object, std::optional<bool>& to) {
  if (!object.contains("strip_accents")) return;
  bool value = false;
  read_flag(file, object, "strip_accents", value);
  to = object["strip_accents"].is_null() ? std::nullopt : std::optional(value);
}

void want(const fs::path& file, const json& object, const char* key, const char* wanted) {
  const json* value = member(object, key);
  if (value == nullptr || !value->is_string() || value->get_ref<const std::string&>() != wanted) {
    fail_at(file, 0, 0,
            fmt::format("not BERT's tokenizer: \"{}\" is {}, wanted \"{}\"", key,
                        value ? value->dump() : "missing", wanted));
  }
}

const json& part(const fs::path& file, const json& root, const char* key, const char* type) {
  const json* found = member(root, key);
  if (found == nullptr) fail_at(file, 0, 0, fmt::format("not BERT's tokenizer: no \"{}\"", key));
  want(file, *found, "type", type);
  return *found;
}

std::vector<std::string> tokens_in_id_order(const fs::path& file, const json& vocab) {
  std::vector<std::string> tokens;
  std::vector<bool> taken;
  for (const auto& [token, id] : vocab.items()) {
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() >= kMostIds) {
      fail_at(
          file, 0, 0,
          fmt::format("token {} has the id {}, wanted 0 to {}", in_quotes(token), id.dump(), kMostIds - 1));
    }
    const auto at = id.get<std::size_t>();
    if (at >= tokens.size()) {
      tokens.resize(at + 1);
      taken.resize(at + 1);
    }
    if (taken[at]) {
      fail_at(
          file, 0, 0,
          fmt::format("tokens {} and {} have the same id {}", in_quotes(tokens[at]), in_quotes(token), at));
    }
    tokens[at] = token;
    taken[at] = true;
  }
  return tokens;
}

// Tokens that a user added stand beside the vocabulary and are matched by rules of their own.
void refuse_added_tokens(const fs::path& file, const json& root, const Vocabulary& vocabulary) {
  const json* added = member(root, "added_tokens");
  if (added == nullptr || !added->is_array()) return;
  for (const json& token : *added) {
    const json* content = member(token, "content");
    const std::string text = content && content->is_string() ? content->get<std::string>() : std::string();
    const auto special = {Vocabulary::kPad, Vocabulary::kUnk, Vocabulary::kCls, Vocabulary::kSep,
                          Vocabulary::kMask};
    const bool known = std::find(special.begin(), special.end(), text) != special.end();
    if (!known) {
      fail_at(file, 0, 0,
              "added token " + in_quotes(text) +
                  " is not supported; allowed: [PAD], [UNK], [CLS], [SEP], [MASK]");
    }
    const json* id = member(token, "id");
    if (id == nullptr || *id != vocabulary.find(text)) {
      fail_at(file, 0, 0,
              fmt::format("added token {} has the id {}, but {} in the vocabulary", in_quotes(text),
                          id ? id->dump() : "none", vocabulary.find(text)));
    }
    for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized"}) {
      bool on = false;
      read_flag(file, token, flag, on);
      if (on)
        fail_at(file, 0, 0, fmt::format("added token {}: \"{}\" is not supported", in_quotes(text), flag));
    }
  }
}

Vocabulary read_tokenizer_json(const fs::path& file, TokenizerOptions& options) {
  const json root = read_json(file);
  const json& model = part(file, root, "model", "WordPiece");
  want(file, model, "unk_token", "[UNK]");
  want(file, model, "continuing_subword_prefix", "##");
  if (const json* most = member(model, "max_input_chars_per_word")) {
    if (!most->is_number_integer() || most->get<std::int64_t>() < 1 || most->get<std::int64_t>() > 100000) {
      fail_at(file, 0, 0, "\"max_input_chars_per_word\" is " + most->dump() + ", wanted 1 to 100000");
    }
    options.max_chars_per_word = most->get<int>();
  }
  const json& normalizer = part(file, root, "normalizer", "BertNormalizer");
  read_flag(file, normalizer, "clean_text", options.clean_text);
  read_flag(file, normalizer, "handle_chinese_chars", options.tokenize_chinese_chars);
  read_flag(file, normalizer, "lowercase", options.do_lower_case);
  read_strip_accents(file, normalizer, options.strip_accents);
  part(file, root, "pre_tokenizer", "BertPreTokenizer");
  const json* vocab = member(model, "vocab");
  if (vocab == nullptr || !vocab->is_object()) fail_at(file, 0, 0, "no object \"vocab\" in \"model\"");
  Vocabulary vocabulary = Vocabulary::from_tokens(tokens_in_id_order(file, *vocab), file);
  refuse_added_tokens(file, root, vocabulary);
  return vocabulary;
}

void read_tokenizer_config(const fs::path& file, bool has_tokenizer_json, TokenizerOptions& options) {
  const json root = read_json(file);
  bool generic = false;
  if (const json* name = member(root, "tokenizer_class")) {
    const std::string text = name->is_string() ? name->get<std::string>() : name->dump();
    generic = text == "TokenizersBackend" || text == "PreTrainedTokenizerFast";
    if (!generic && text != "BertTokenizer" && text != "BertTokenizerFast") {
      fail_at(file, 0, 0,
              "tokenizer_class " + in_quotes(text) +
                  " is not supported; allowed: BertTokenizer, BertTokenizerFast, TokenizersBackend");
    }
  }
  for (const auto& [key, wanted] :
       std::array<std::pair<const char*, std::string_view>, 5>{{{"pad_token", Vocabulary::kPad},
                                                                {"unk_token", Vocabulary::kUnk},
                                                                {"cls_token", Vocabulary::kCls},
                                                                {"sep_token", Vocabulary::kSep},
                                                                {"mask_token", Vocabulary::kMask}}}) {
    const json* value = member(root, key);
    if (value && value->is_object()) value = member(*value, "content");  // how transformers 4 wrote it
    if (value && *value != std::string(wanted)) {
      fail_at(file, 0, 0, fmt::format("\"{}\" is {}, wanted \"{}\"", key, value->dump(), wanted));
    }
  }
  // "No limit" is written as 1e30.
  if (const json* most = member(root, "model_max_length");
      most && most->is_number() && most->get<double>() < 1e9) {
    options.model_max_length = most->get<std::int64_t>();
  }
  if (generic && has_tokenizer_json) return;
  read_flag(file, root, "do_lower_case", options.do_lower_case);
  read_flag(file, root, "tokenize_chinese_chars", options.tokenize_chinese_chars);
  read_strip_accents(file, root, options.strip_accents);
}

void refuse_disagreement(const fs::path& folder, const Vocabulary& a, const Vocabulary& b) {
  for (std::int32_t id = 0; id < std::max(a.size(), b.size()); ++id) {
    const std::string_view left = id < a.size() ? a.token(id) : std::string_view();
    const std::string_view right = id < b.size() ? b.token(id) : std::string_view();
    // An id that a later equal token has taken from this one is in one of the files only.
    const bool same =
        left == right || (right.empty() && a.find(left) != id) || (left.empty() && b.find(right) != id);
    if (!same) {
      fail_at(folder, 0, 0,
              fmt::format("vocab.txt and tokenizer.json disagree: id {} is {} and {}", id, in_quotes(left),
                          in_quotes(right)));
    }
  }
}

}  // namespace

BertTokenizer load_tokenizer(const fs::path& folder) {
  const fs::path text_file = folder / "vocab.txt", json_file = folder / "tokenizer.json";
  const fs::path config_file = folder / "tokenizer_config.json";
  const bool has_text = fs::exists(text_file), has_json = fs::exists(json_file);
  if (!has_text && !has_json) {
    fail_at(folder, 0, 0, "no tokenizer here; wanted: vocab.txt or tokenizer.json (of a BERT model)");
  }
  TokenizerOptions options;
  std::optional<Vocabulary> from_json, vocabulary;
  if (has_json) from_json = read_tokenizer_json(json_file, options);
  if (has_text) vocabulary = Vocabulary::read(text_file);
  if (has_text && has_json) refuse_disagreement(folder, *vocabulary, *from_json);
  if (!has_text) vocabulary = std::move(from_json);
  if (fs::exists(config_file)) read_tokenizer_config(config_file, has_json, options);
  return BertTokenizer(std::move(*vocabulary), options);
}

}  // namespace shoal::data
