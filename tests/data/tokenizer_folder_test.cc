// Hugging Face folders in and out.
#include "data/tokenizer_folder.h"

#include "tests/data/support.h"

namespace shoal::data {
namespace {

using nlohmann::json;

std::string v0_lines() {
  return v0().bytes();
}

// tokenizer.json as the library writes it for V0, cut to what counts.
json tokenizer_json(bool lowercase) {
  json vocab;
  int id = 0;
  for (const auto& token : golden()["vocab"]) vocab[token.get<std::string>()] = id++;
  return {{"version", "1.0"},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"strip_accents", nullptr},
            {"lowercase", lowercase}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", vocab}}}};
}

std::vector<std::int32_t> ids(const BertTokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> out;
  tokenizer.encode(text, out);
  return out;
}

TEST(LoadTokenizer, FromVocabTxtWithDefaults) {
  const TempFolder folder;
  folder.write("vocab.txt", v0_lines());
  const BertTokenizer t = load_tokenizer(folder.path());
  EXPECT_TRUE(t.options().do_lower_case);
  EXPECT_FALSE(t.options().strip_accents.has_value());
  EXPECT_FALSE(t.options().model_max_length.has_value());
}

TEST(LoadTokenizer, FromVocabTxtAndConfig) {
  const TempFolder folder;
  folder.write("vocab.txt", v0_lines());
  folder.write("tokenizer_config.json",
               R"({"do_lower_case": false, "strip_accents": true, "tokenize_chinese_chars": false,
                   "model_max_length": 512, "unk_token": {"content": "[UNK]", "special": true}})");
  const BertTokenizer t = load_tokenizer(folder.path());
  EXPECT_FALSE(t.options().do_lower_case);
  EXPECT_EQ(t.options().strip_accents, true);
  EXPECT_FALSE(t.options().tokenize_chinese_chars);
  EXPECT_EQ(t.options().model_max_length, 512);
}

TEST(LoadTokenizer, FromTokenizerJsonAloneObeysItsFlags) {
  const TempFolder folder;
  json root = tokenizer_json(false);
  root["normalizer"]["strip_accents"] = true;
  root["normalizer"]["handle_chinese_chars"] = false;
  root["normalizer"]["clean_text"] = false;
  root["model"]["max_input_chars_per_word"] = 7;
  folder.write("tokenizer.json", root.dump());
  const BertTokenizer t = load_tokenizer(folder.path());
  EXPECT_FALSE(t.options().do_lower_case);
  EXPECT_EQ(t.options().strip_accents, true);
  EXPECT_FALSE(t.options().tokenize_chinese_chars);
  EXPECT_FALSE(t.options().clean_text);
  EXPECT_EQ(t.options().max_chars_per_word, 7);
  EXPECT_EQ(t.vocabulary().size(), v0().size());
  EXPECT_EQ(t.vocabulary().bytes(), v0_lines());
}

TEST(LoadTokenizer, ConfigOverridesUnlessItsClassIsGeneric) {
  const TempFolder folder;
  folder.write("tokenizer.json", tokenizer_json(true).dump());
  folder.write("tokenizer_config.json",
               R"({"tokenizer_class": "BertTokenizer", "do_lower_case": false, "model_max_length": 1e30})");
  EXPECT_FALSE(load_tokenizer(folder.path()).options().do_lower_case);
  EXPECT_FALSE(load_tokenizer(folder.path()).options().model_max_length.has_value()) << "1e30 means none";
  folder.write("tokenizer_config.json",
               R"({"tokenizer_class": "TokenizersBackend", "do_lower_case": false})");
  EXPECT_TRUE(load_tokenizer(folder.path()).options().do_lower_case);
}

TEST(LoadTokenizer, Refuses) {
  const TempFolder folder;
  const auto load = [&] { return error_of(folder, [&] { load_tokenizer(folder.path()); }); };
  const auto with_json = [&](const auto& change) {
    json root = tokenizer_json(true);
    change(root);
    folder.write("tokenizer.json", root.dump());
    return load();
  };
  EXPECT_NE(load().find("error: no tokenizer here; wanted: vocab.txt or tokenizer.json"), std::string::npos);
  EXPECT_EQ(with_json([](json& j) { j["model"]["type"] = "BPE"; }),
            "tokenizer.json: error: not BERT's tokenizer: \"type\" is \"BPE\", wanted \"WordPiece\"");
  EXPECT_EQ(with_json([](json& j) { j["normalizer"] = nullptr; }),
            "tokenizer.json: error: not BERT's tokenizer: no \"normalizer\"");
  EXPECT_EQ(
      with_json([](json& j) { j["normalizer"]["type"] = "Sequence"; }),
      "tokenizer.json: error: not BERT's tokenizer: \"type\" is \"Sequence\", wanted \"BertNormalizer\"");
  EXPECT_EQ(with_json([](json& j) { j["normalizer"]["lowercase"] = "yes"; }),
            "tokenizer.json: error: \"lowercase\" is \"yes\", wanted true or false");
  EXPECT_EQ(with_json([](json& j) { j["model"]["vocab"]["x"] = 2; }),
            "tokenizer.json: error: tokens '[CLS]' and 'x' have the same id 2");
  EXPECT_EQ(with_json([](json& j) { j["model"]["vocab"]["x"] = 2000000000; }),
            "tokenizer.json: error: token 'x' has the id 2000000000, wanted 0 to 16777215");
  EXPECT_EQ(with_json([](json& j) { j["model"]["vocab"].erase("[MASK]"); }),
            "tokenizer.json: error: special tokens missing from the vocabulary: [MASK]");
  EXPECT_EQ(with_json([](json& j) {
              j["added_tokens"] = {{{"id", 50}, {"content", "<user>"}}};
            }),
            "tokenizer.json: error: added token '<user>' is not supported; allowed: [PAD], [UNK], [CLS], "
            "[SEP], [MASK]");
  EXPECT_EQ(with_json([](json& j) {
              j["added_tokens"] = {{{"id", 4}, {"content", "[MASK]"}, {"lstrip", true}}};
            }),
            "tokenizer.json: error: added token '[MASK]': \"lstrip\" is not supported");
  EXPECT_EQ(with_json([](json& j) {
              j["added_tokens"] = {{{"id", 3}, {"content", "[MASK]"}}};
            }),
            "tokenizer.json: error: added token '[MASK]' has the id 3, but 4 in the vocabulary");
  folder.write("tokenizer.json", "{\n  \"model\": }");
  EXPECT_EQ(load().substr(0, 36), "tokenizer.json:2:12: error: not JSON");
}

TEST(LoadTokenizer, RefusesConfigOfAnotherTokenizer) {
  const TempFolder folder;
  folder.write("vocab.txt", v0_lines());
  const auto config = [&](const char* text) {
    folder.write("tokenizer_config.json", text);
    return error_of(folder, [&] { load_tokenizer(folder.path()); });
  };
  EXPECT_EQ(
      config(R"({"tokenizer_class": "BertJapaneseTokenizer"})"),
      "tokenizer_config.json: error: tokenizer_class 'BertJapaneseTokenizer' is not supported; allowed: "
      "BertTokenizer, BertTokenizerFast, TokenizersBackend");
  EXPECT_EQ(config(R"({"unk_token": "<unk>"})"),
            "tokenizer_config.json: error: \"unk_token\" is \"<unk>\", wanted \"[UNK]\"");
  EXPECT_EQ(config(R"({"do_lower_case": 1})"),
            "tokenizer_config.json: error: \"do_lower_case\" is 1, wanted true or false");
}

TEST(LoadTokenizer, RefusesFilesThatDisagree) {
  const TempFolder folder;
  folder.write("tokenizer.json", tokenizer_json(true).dump());
  folder.write("vocab.txt", v0_lines());
  EXPECT_EQ(error_of(folder, [&] { load_tokenizer(folder.path()); }), "no error");
  folder.write("vocab.txt", v0_lines() + "more\n");
  EXPECT_NE(error_of(folder, [&] { load_tokenizer(folder.path()); })
                .find("vocab.txt and tokenizer.json disagree: id 44 is 'more' and ''"),
            std::string::npos);
}

TEST(WriteTokenizer, ComesBackEqual) {
  const std::string lines = "[PAD]\r\n[UNK]\n\n[CLS]\n[SEP]\n[MASK]\nthe\n\"\\é\u2028\nthe\n##e\n\n";
  for (const TokenizerOptions& options :
       {TokenizerOptions{}, TokenizerOptions{.do_lower_case = false, .strip_accents = true},
        TokenizerOptions{.strip_accents = false, .tokenize_chinese_chars = false},
        TokenizerOptions{.clean_text = false, .max_chars_per_word = 9}}) {
    const TempFolder folder;
    write_tokenizer(folder.path(), BertTokenizer(Vocabulary::parse(lines, "v"), options), 128);
    const BertTokenizer back = load_tokenizer(folder.path());
    EXPECT_EQ(read_bytes(folder.path() / "vocab.txt"), lines);
    EXPECT_EQ(back.vocabulary().bytes(), lines);
    EXPECT_EQ(back.options().do_lower_case, options.do_lower_case);
    EXPECT_EQ(back.options().strip_accents, options.strip_accents);
    EXPECT_EQ(back.options().tokenize_chinese_chars, options.tokenize_chinese_chars);
    EXPECT_EQ(back.options().clean_text, options.clean_text);
    EXPECT_EQ(back.options().max_chars_per_word, options.max_chars_per_word);
    EXPECT_EQ(back.options().model_max_length, 128);
    EXPECT_EQ(ids(back, "the \u00e9 thee"),
              ids(BertTokenizer(Vocabulary::parse(lines, "v"), options), "the \u00e9 thee"));
    const json written = json::parse(read_bytes(folder.path() / "tokenizer.json"));
    EXPECT_TRUE(written.at("truncation").is_null());
    EXPECT_TRUE(written.at("padding").is_null());
    EXPECT_EQ(written["model"]["vocab"]["the"], 8);
  }
}

TEST(WriteTokenizer, Refuses) {
  const TempFolder folder;
  EXPECT_EQ(error_of(folder, [&] { write_tokenizer(folder.path() / "none", BertTokenizer(v0()), 512); }),
            "none/vocab.txt: error: cannot be written");
}

}  // namespace
}  // namespace shoal::data
