// The tokenizer against Hugging Face's library (tests/golden/make_tokenizer_golden.py), and cases 1, 2,
// 4, 5, 7, 8 and 13 of the awkward inputs by name.
#include "data/tokenizer.h"

#include "data/build_dataset.h"
#include "tests/data/support.h"

namespace shoal::data {
namespace {

std::string pieces(const BertTokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> ids;
  tokenizer.encode(text, ids);
  std::string out;
  for (const std::int32_t id : ids)
    out.append(out.empty() ? "" : " ").append(tokenizer.vocabulary().token(id));
  return out;
}

BertTokenizer uncased() {
  return BertTokenizer(v0());
}
BertTokenizer cased() {
  return BertTokenizer(v0(), {.do_lower_case = false});
}

TEST(Tokenizer, GoldenCases) {
  ASSERT_GT(golden()["cases"].size(), 300u);
  for (const nlohmann::json& wanted : golden()["cases"]) {
    const BertTokenizer tokenizer(v0(), golden_options(wanted["options"]));
    const std::string text = wanted["text"];
    const std::string second = wanted.value("pair", "");
    DatasetOptions options;
    options.max_seq_length = 1000;
    if (wanted.contains("pair")) options.columns.text_pair = Column::named("pair");
    const std::pair<std::string_view, std::string_view> row[] = {{text, second}};
    const Dataset set = build_dataset(row, tokenizer, options);
    EXPECT_EQ(set.tokens, wanted["ids"].get<std::vector<std::int32_t>>()) << wanted.dump();
    std::vector<std::int32_t> types(set.tokens.size(), 1);
    std::fill_n(types.begin(), set.second[0], 0);
    EXPECT_EQ(types, wanted["types"].get<std::vector<std::int32_t>>()) << wanted.dump();
  }
}

TEST(Tokenizer, Case1SpecialTokensTypedInText) {
  EXPECT_EQ(pieces(uncased(), "a[SEP]b [mask] [MASK]"), "a [SEP] b [ mask ] [MASK]");
  const std::pair<std::string_view, std::string_view> row[] = {{"a[SEP]b", ""}};
  const Dataset set = build_dataset(row, uncased(), {});
  EXPECT_EQ(set.second[0], set.begin[1]) << "a typed [SEP] must not start a second text";
}

TEST(Tokenizer, Case2WhiteSpaceControlsSeparate) {
  EXPECT_EQ(pieces(uncased(), "note\tbook one\nline"), "note book one line");
  EXPECT_EQ(pieces(uncased(), "note\r\nbook"), "note book");
}

// Emoji are unknown words, never nothing, also those that a table of an old Unicode does not have.
TEST(Tokenizer, Case4NewEmoji) {
  EXPECT_EQ(pieces(uncased(), "hello \U0001F971 world"), "hello [UNK] world");
  EXPECT_EQ(pieces(uncased(), "hello\U0001F971"), "[UNK]");
  EXPECT_EQ(pieces(uncased(), "\U0001F971"), "[UNK]");
  EXPECT_EQ(pieces(cased(), "\U0001FAE8"), "[UNK]") << "of Unicode 15";
}

TEST(Tokenizer, Case5Accents) {
  EXPECT_EQ(pieces(uncased(), "café"), "cafe");
  EXPECT_EQ(pieces(uncased(), "cafe\u0301"), "cafe");
  EXPECT_EQ(pieces(uncased(), "naïve"), "naive");
  EXPECT_EQ(pieces(cased(), "café"), "café");
  EXPECT_EQ(pieces(cased(), "cafe\u0301"), "[UNK]");
  EXPECT_EQ(pieces(cased(), "naïve"), "[UNK]");
}

TEST(Tokenizer, Case7WordLimitCountsCodePoints) {
  std::vector<std::int32_t> ids;
  uncased().encode(std::string(100, 'x'), ids);
  EXPECT_EQ(ids.size(), 100u);
  EXPECT_EQ(pieces(uncased(), std::string(101, 'x')), "[UNK]");
  std::string kana = "か";
  for (int i = 0; i < 59; ++i) kana += "き";
  ids.clear();
  uncased().encode(kana, ids);
  EXPECT_EQ(ids.size(), 60u);
}

TEST(Tokenizer, Case8Ideographs) {
  EXPECT_EQ(pieces(uncased(), "a中国b"), "a 中 国 b");
  EXPECT_EQ(pieces(uncased(), "中\U00020000国"), "中 [UNK] 国");
  // U+2B820 is glued in the library as it is today (Google's file starts this range there).
  EXPECT_EQ(pieces(uncased(), "a\U0002B820b"), "[UNK]");
}

TEST(Tokenizer, LimitCutsAndSaysSo) {
  const BertTokenizer tokenizer = uncased();
  std::vector<std::int32_t> all, some = {-7};
  EXPECT_FALSE(tokenizer.encode("note book [SEP] xxx one", all));
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(tokenizer.count("note book [SEP] xxx one"), 7u);
  for (std::size_t limit = 0; limit <= 8; ++limit) {
    some.resize(1);
    EXPECT_EQ(tokenizer.encode("note book [SEP] xxx one", some, limit), limit < 7) << limit;
    std::vector<std::int32_t> wanted = {-7};
    wanted.insert(wanted.end(), all.begin(),
                  all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(limit, 7)));
    EXPECT_EQ(some, wanted) << limit;
  }
}

TEST(Tokenizer, Case13LongTextsStopEarly) {
  const BertTokenizer tokenizer = uncased();
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "the ";
  std::vector<std::int32_t> ids;
  EXPECT_TRUE(tokenizer.encode(text, ids, 256));
  EXPECT_EQ(ids.size(), 256u);
  EXPECT_LT(ids.capacity(), 4096u) << "memory goes with the limit, not with the text";
  // A text without a blank must not be collected before it is found too long.
  EXPECT_EQ(pieces(tokenizer, std::string(1000000, 'q')), "[UNK]");
  DatasetOptions options;
  options.max_seq_length = 256;
  options.columns.text_pair = Column::named("pair");
  const std::pair<std::string_view, std::string_view> row[] = {{text, text}};
  EXPECT_EQ(build_dataset(row, tokenizer, options).stats.tokens, 256);
}

TEST(Tokenizer, GoldenCorpora) {
  const std::filesystem::path data = SHOAL_SHARED_DATA;
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no real data at " << data;
  for (const nlohmann::json& wanted : golden()["corpora"]) {
    const BertTokenizer tokenizer(Vocabulary::read(data / "bert_vocab" / wanted["vocab"].get<std::string>()),
                                  golden_options(wanted["options"]));
    const std::string text = read_bytes(data / wanted["file"].get<std::string>());
    Fnv hash;
    std::int64_t tokens = 0;
    for (std::size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
      end = std::min(text.find('\n', begin), text.size());
      std::vector<std::int32_t> ids;
      tokenizer.encode(std::string_view(text).substr(begin, end - begin), ids);
      tokens += static_cast<std::int64_t>(ids.size());
      hash.add(fmt::format("{}\n", fmt::join(ids, " ")));
    }
    EXPECT_EQ(tokens, wanted["tokens"]) << wanted.dump();
    EXPECT_EQ(hash.text(), wanted["hash"]) << wanted.dump();
  }
}

}  // namespace
}  // namespace shoal::data
