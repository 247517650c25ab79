// vocab.txt -> ids: cases 14, 16 and 17 of the awkward inputs.
#include "data/vocabulary.h"

#include "tests/data/support.h"

namespace shoal::data {
namespace {

constexpr const char* kSpecials = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";

TEST(Vocabulary, Case14IdIsThePhysicalLine) {
  const Vocabulary v = Vocabulary::parse("[PAD]\n[UNK]\n\n\u2028\nfoo\n[CLS]\n[SEP]\n[MASK]\n", "vocab.txt");
  EXPECT_EQ(v.find("foo"), 4);
  EXPECT_EQ(v.find("\u2028"), 3);
  EXPECT_EQ(v.token(2), "");
  EXPECT_EQ(v.find(""), -1);
  EXPECT_EQ(v.size(), 8);
}

TEST(Vocabulary, Case14TrailingBlankLinesMakeNoRow) {
  const std::string lines = std::string(kSpecials) + "foo";
  for (const char* end : {"", "\n", "\n\n", "\r\n\r\n", "\n\n\n"}) {
    EXPECT_EQ(Vocabulary::parse(lines + end, "vocab.txt").size(), 6) << testing::PrintToString(end);
  }
}

TEST(Vocabulary, Case16MissingSpecialTokensAreAllNamed) {
  const TempFolder folder;
  const auto read = [&](std::string_view bytes) {
    return error_of(folder, [&] { Vocabulary::read(folder.write("vocab.txt", bytes)); });
  };
  EXPECT_EQ(read("[PAD]\n[CLS]\n[SEP]\n[MASK]\nfoo\n"),
            "vocab.txt: error: special tokens missing from the vocabulary: [UNK]");
  EXPECT_EQ(read("[PAD]\n<unk>\n[CLS]\n[SEP]\n[mask]\n"),
            "vocab.txt: error: special tokens missing from the vocabulary: [UNK], [MASK]");
  EXPECT_EQ(
      read(""),
      "vocab.txt: error: special tokens missing from the vocabulary: [PAD], [UNK], [CLS], [SEP], [MASK]");
}

TEST(Vocabulary, Case17WindowsLineEnds) {
  const Vocabulary v =
      Vocabulary::parse("[PAD]\r\n[UNK]\r\nfoo\r\n[CLS]\r\n[SEP]\r\n[MASK]\r\n", "vocab.txt");
  EXPECT_EQ(v.find("foo"), 2);
  EXPECT_EQ(v.find("foo\r"), -1);
  EXPECT_EQ(v.size(), 6);
}

TEST(Vocabulary, KeepsItsBytes) {
  const std::string bytes = "\xef\xbb\xbf[PAD]\r\n[UNK]\n\n[CLS]\n[SEP]\n[MASK]\n\n";
  const Vocabulary v = Vocabulary::parse(bytes, "vocab.txt");
  EXPECT_EQ(v.bytes(), bytes);
  EXPECT_EQ(v.find("[PAD]"), 0) << "a byte order mark is no part of the first token";
}

TEST(Vocabulary, LastOfEqualTokensCounts) {
  const Vocabulary v = Vocabulary::parse(std::string(kSpecials) + "foo\n##foo\nfoo\n##foo\n", "vocab.txt");
  EXPECT_EQ(v.find("foo"), 7);
  EXPECT_EQ(v.find_inner("foo"), 8);
  EXPECT_EQ(v.token(5), "foo");
}

TEST(Vocabulary, InnerPiecesAreFoundWithoutTheirPrefix) {
  const Vocabulary v = v0();
  EXPECT_EQ(v.token(v.find_inner("book")), "##book");
  EXPECT_EQ(v.find_inner("the"), -1);
  EXPECT_EQ(v.find("##book"), v.find_inner("book"));
  EXPECT_EQ(v.find_inner(""), -1);
}

TEST(Vocabulary, FindsEachOfManyTokens) {
  std::string bytes = kSpecials;
  for (int i = 0; i < 20000; ++i) bytes += fmt::format("{}{}\n", i % 2 ? "##t" : "t", i);
  const Vocabulary v = Vocabulary::parse(bytes, "vocab.txt");
  ASSERT_EQ(v.size(), 20005);
  for (int i = 0; i < 20000; ++i) {
    const std::string text = "t" + std::to_string(i);
    EXPECT_EQ(i % 2 ? v.find_inner(text) : v.find(text), i + 5);
    EXPECT_EQ(i % 2 ? v.find(text) : v.find_inner(text), -1);
  }
}

TEST(Vocabulary, RefusesBytesThatAreNotUtf8) {
  const TempFolder folder;
  EXPECT_EQ(error_of(folder, [&] { Vocabulary::read(folder.write("vocab.txt", "[PAD]\nab\xe9\n")); }),
            "vocab.txt:2:3: error: not UTF-8");
  EXPECT_EQ(error_of(folder, [&] { Vocabulary::read(folder.path() / "none.txt"); }),
            "none.txt: error: cannot be read");
}

}  // namespace
}  // namespace shoal::data
