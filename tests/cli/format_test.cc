#include "cli/format.h"

#include <gtest/gtest.h>

#include <limits>

#include "cli/styled_line.h"

namespace shoal::cli {
namespace {

TEST(Format, Numbers) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(12000), "12,000");
  EXPECT_EQ(with_commas(-123456), "-123,456");
  EXPECT_EQ(counted(1, "job"), "1 job");
  EXPECT_EQ(counted(1200, "row"), "1,200 rows");
  EXPECT_EQ(epoch_text(4), "4");
  EXPECT_EQ(epoch_text(2.4999), "2.5");
}

TEST(Format, Times) {
  EXPECT_EQ(clock_text(7.2), "0:07");
  EXPECT_EQ(clock_text(59.6), "1:00");
  EXPECT_EQ(clock_text(3725), "1:02:05");
  EXPECT_EQ(clock_text(-1), "0:00");
  EXPECT_EQ(clock_text(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(clock_text(std::numeric_limits<double>::quiet_NaN()), "?");
}

TEST(Format, Bytes) {
  EXPECT_EQ(bytes_text(12), "12 bytes");
  EXPECT_EQ(bytes_text(41'000'000), "41 MB");
  EXPECT_EQ(bytes_text(999'999), "1 MB");
  EXPECT_EQ(bytes_text(2'500'000'000), "2.5 GB");
}

TEST(StyledLine, IsCutToTheColumnsOfATerminal) {
  EXPECT_EQ(StyledLine().add("hello").add(" world").render(80, false), "hello world");
  EXPECT_EQ(StyledLine().add("hello").add(" world").render(9, false), "hello ...");
  // A CJK character takes two columns, a combining accent none.
  EXPECT_EQ(StyledLine().add("中国中国").render(7, false), "中国...");
  EXPECT_EQ(text_width("e\u0301"), 1);
  EXPECT_EQ(padded("中", 4), "中  ");
  EXPECT_EQ(padded("7", 3, true), "  7");
}

TEST(StyledLine, ColourEndsWithItsPiece) {
  EXPECT_EQ(StyledLine().add("a", Style::kGood).add("b").render(80, true), "\x1b[32ma\x1b[0mb");
  EXPECT_EQ(StyledLine().add("a", Style::kGood).add("b").render(80, false), "ab");
}

}  // namespace
}  // namespace shoal::cli
