// Every code point through normaliser and word splitter, against Hugging Face's library: alone, between
// two letters, and among marks that may have to change places, under five sets of options; and mixed
// strings of many scripts.
#include "data/unicode.h"

#include "data/normalizer.h"
#include "data/utf8.h"
#include "tests/data/support.h"

namespace shoal::data {
namespace {

Normalizer golden_normalizer(const std::string& name) {
  const TokenizerOptions options = golden_options(name);
  return Normalizer({.clean_text = options.clean_text,
                     .handle_chinese_chars = options.tokenize_chinese_chars,
                     .strip_accents = options.strip_accents.value_or(options.do_lower_case),
                     .lowercase = options.do_lower_case});
}

std::vector<std::string> words(const Normalizer& normalizer, std::string_view text) {
  std::vector<std::string> out;
  normalizer.split(text, 1000, [&](std::string_view word, std::size_t) {
    out.emplace_back(word);
    return true;
  });
  return out;
}

class UnicodeParity : public ::testing::TestWithParam<std::string> {};

TEST_P(UnicodeParity, EveryCodePoint) {
  constexpr char32_t kBlock = 0x4000;
  const Normalizer normalizer = golden_normalizer(GetParam());
  const nlohmann::json& hashes = golden()["points"][GetParam()];
  ASSERT_EQ(hashes.size(), 0x110000 / kBlock);
  for (char32_t block = 0; block < 0x110000; block += kBlock) {
    Fnv hash;
    for (char32_t point = block; point < block + kBlock; ++point) {
      if (point >= 0xd800 && point < 0xe000) continue;
      std::string c;
      append_utf8(c, point);
      for (const std::string& text :
           {c, fmt::format("a{}b", c), fmt::format("\u302e{}\u0301\U0001d165", c)}) {
        hash.add(fmt::format("{}", fmt::join(words(normalizer, text), "\n")));
        hash.add(std::string_view("\0", 1));
      }
    }
    EXPECT_EQ(hash.text(), hashes[block / kBlock])
        << fmt::format("block U+{:04X}", static_cast<unsigned>(block));
  }
}

TEST_P(UnicodeParity, MixedStrings) {
  const Normalizer normalizer = golden_normalizer(GetParam());
  int seen = 0;
  for (const nlohmann::json& wanted : golden()["mixed"]) {
    if (wanted["options"] != GetParam()) continue;
    ++seen;
    EXPECT_EQ(words(normalizer, wanted["text"].get<std::string>()), wanted["words"]) << wanted["text"].dump();
  }
  EXPECT_GT(seen, 50);
}

INSTANTIATE_TEST_SUITE_P(Options, UnicodeParity,
                         ::testing::Values("uncased", "cased", "cased-stripped", "uncased-accents", "dirty"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Utf8, RefusesWhatIsNotWellFormed) {
  for (const char* good : {"", "a", "é", "\u0800", "\ud7ff", "\ue000", "\U00010000", "\U0010ffff"}) {
    EXPECT_EQ(first_invalid_utf8(good), std::string_view(good).size()) << good;
  }
  const std::pair<const char*, std::size_t> bad[] = {{"\x80", 0},
                                                     {"a\xc3", 1},
                                                     {"\xc0\x80", 0},
                                                     {"\xc1\xbf", 0},
                                                     {"\xe0\x9f\xbf", 0},
                                                     {"\xed\xa0\x80", 0},
                                                     {"\xef\xbf", 0},
                                                     {"\xf0\x8f\xbf\xbf", 0},
                                                     {"\xf4\x90\x80\x80", 0},
                                                     {"\xf5\x80\x80\x80", 0},
                                                     {"\xff", 0},
                                                     {"01234567\xe9", 8},
                                                     {"é\xe9 ", 2},
                                                     {"012345678\xf0\x9f\x98", 9}};
  for (const auto& [text, at] : bad) EXPECT_EQ(first_invalid_utf8(text), at) << text;
}

TEST(Utf8, DecodesWhatItEncodes) {
  for (const char32_t point : {0x0u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xfffdu, 0x10000u, 0x10ffffu}) {
    std::string text;
    append_utf8(text, point);
    std::size_t at = 0;
    EXPECT_EQ(decode_utf8(text, at), point);
    EXPECT_EQ(at, text.size());
    EXPECT_EQ(count_code_points(text), 1u);
  }
}

}  // namespace
}  // namespace shoal::data
