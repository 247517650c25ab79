#include "data/sniff.h"

#include <gtest/gtest.h>

#include "tests/data/support.h"

namespace shoal::data {
namespace {

class SniffTest : public testing::Test {
 protected:
  Sniffed of(const std::string& name, const std::string& text) const {
    return sniff(folder_.write(name, text));
  }
  TempFolder folder_;
};

TEST_F(SniffTest, HeaderAndUsualNames) {
  const Sniffed s = of("a.tsv", "sentence\tlabel\nthe first, one\t1\nthe second\t0\nthe third\t1\n");
  EXPECT_TRUE(s.table.header);
  EXPECT_FALSE(s.table.delimiter);
  EXPECT_EQ(s.rows, 3);
  EXPECT_EQ(s.text, 0u);
  EXPECT_EQ(s.label, 1u);
  EXPECT_FALSE(s.regression);
  EXPECT_EQ(s.columns[1].values, (std::vector<std::pair<std::string, std::int64_t>>{{"1", 2}, {"0", 1}}));
}

TEST_F(SniffTest, NoHeaderWhereTheFirstRowIsLikeTheOthers) {
  const Sniffed s =
      of("a.tsv",
         "gj04\t1\tOur friends came.\ngj04\t0\tThem came.\ngj05\t1\tHe came.\ngj05\t0\tHim came.\n"
         "gj05\t1\tShe came.\ngj05\t0\tHer came.\n");
  EXPECT_FALSE(s.table.header);
  EXPECT_EQ(s.rows, 6);
  EXPECT_EQ(s.columns[2].name, "3");
  EXPECT_EQ(s.text, 2u);
}

TEST_F(SniffTest, APairAndAQuantity) {
  const Sniffed s =
      of("a.csv", "id;sentence1;sentence2;score\n1;a plane;an air plane;5.0\n2;a man;a dog;0.25\n");
  EXPECT_EQ(s.table.delimiter, ";");
  EXPECT_EQ(s.text, 1u);
  EXPECT_EQ(s.text_pair, 2u);
  EXPECT_EQ(s.label, 3u);
  EXPECT_TRUE(s.regression);
}

TEST_F(SniffTest, JsonLinesAndOtherEncodings) {
  const Sniffed s =
      of("a.jsonl", "{\"review\": \"good\", \"stars\": 1}\n{\"review\": \"bad\", \"stars\": 0}\n");
  EXPECT_EQ(s.format, TableFormat::kJsonl);
  EXPECT_EQ(s.columns[*s.text].name, "review");
  EXPECT_EQ(of("b.tsv", "text\tlabel\ncaf\xe9\t1\n").table.encoding, "windows-1252");
}

TEST_F(SniffTest, AnUnnamedLabelIsTheColumnThatRepeats) {
  std::string rows = "what\tkind\n";
  for (int i = 0; i < 12; ++i)
    rows += "a text of some length " + std::to_string(i) + "\t" + (i % 2 ? "x" : "y") + "\n";
  const Sniffed s = of("a.tsv", rows);
  EXPECT_EQ(s.label, 1u);
  EXPECT_EQ(s.text, 0u);
}

}  // namespace
}  // namespace shoal::data
