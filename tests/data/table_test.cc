// Reading rows: cases 19, 20, 22 and 23 of the awkward inputs, and what all forms have in common.
#include "data/table.h"

#include "tests/data/support.h"

namespace shoal::data {
namespace {

using Rows = std::vector<std::vector<std::string>>;

struct Read {
  Rows rows;
  std::vector<std::int64_t> lines;
};

Read read(const std::filesystem::path& file, std::vector<Column> wanted, const TableOptions& options = {}) {
  const auto reader = open_table(file, std::move(wanted), options);
  Read out;
  TableRow row;
  while (reader->next(row)) {
    out.rows.emplace_back(row.cells.begin(), row.cells.end());
    out.lines.push_back(row.line);
  }
  return out;
}

const std::vector<Column> kTextAndLabel = {Column::named("text"), Column::named("label")};

TEST(Tsv, Case19LoneQuotesAreText) {
  const TempFolder folder;
  const Read got =
      read(folder.write("f.tsv", "text\tlabel\n\"two\t1\nthree\t0\nfour \"x\"\t1\n"), kTextAndLabel);
  EXPECT_EQ(got.rows, (Rows{{"\"two", "1"}, {"three", "0"}, {"four \"x\"", "1"}}));
  EXPECT_EQ(got.lines, (std::vector<std::int64_t>{2, 3, 4}));
}

TEST(Tsv, ByNumberWithoutAHeader) {
  const TempFolder folder;
  const auto file = folder.write("f.tsv", "gj04\t1\t\tOne.\r\ngj04\t0\t*\tTwo.\r\n");
  EXPECT_EQ(read(file, {Column::numbered(4), Column::numbered(2)}, {.header = false}).rows,
            (Rows{{"One.", "1"}, {"Two.", "0"}}));
  EXPECT_EQ(read(file, {Column::numbered(3)}, {.header = false}).rows, (Rows{{""}, {"*"}}));
  EXPECT_EQ(table_columns(file, {.header = false}), (std::vector<std::string>{"1", "2", "3", "4"}));
}

TEST(Tsv, ByNumberUnderAHeader) {
  const TempFolder folder;
  const auto file = folder.write("f.txt", "a\tb\n1\t2\n");
  EXPECT_EQ(read(file, {Column::numbered(2), Column::named("a"), Column::numbered(2)}).rows,
            (Rows{{"2", "1", "2"}}));
  EXPECT_EQ(table_columns(file, {}), (std::vector<std::string>{"a", "b"}));
}

TEST(Tsv, ByteOrderMarkCarriageReturnsAndUnicodeLineEnds) {
  const TempFolder folder;
  const auto file = folder.write("f.tsv", "\xef\xbb\xbftext\tlabel\r\na\u0085b\u2028c\t1\r\nd\t0");
  const Read got = read(file, kTextAndLabel);
  EXPECT_EQ(got.rows, (Rows{{"a\u0085b\u2028c", "1"}, {"d", "0"}}));
  EXPECT_EQ(got.lines, (std::vector<std::int64_t>{2, 3}));
}

TEST(Tsv, BlankLines) {
  const TempFolder folder;
  const Read several = read(folder.write("f.tsv", "text\tlabel\n\na\t1\n\r\nb\t0\n\n"), kTextAndLabel);
  EXPECT_EQ(several.rows, (Rows{{"a", "1"}, {"b", "0"}}));
  EXPECT_EQ(several.lines, (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(read(folder.write("f.tsv", "text\na\n\nb\n"), {Column::named("text")}).rows,
            (Rows{{"a"}, {""}, {"b"}}));
}

TEST(Csv, Case20Rfc4180) {
  const TempFolder folder;
  const auto file = folder.write("f.csv", "text,label\n\"a, b\nc \"\"d\"\"\",1\r\n\"\",0\r\n");
  const Read got = read(file, kTextAndLabel);
  EXPECT_EQ(got.rows, (Rows{{"a, b\nc \"d\"", "1"}, {"", "0"}}));
  EXPECT_EQ(got.lines, (std::vector<std::int64_t>{2, 4}));
}

TEST(Csv, Case22TextIsText) {
  const TempFolder folder;
  const auto file = folder.write("f.csv", "text,label\nnull,1\nNone,1\nnan,0\n,0\n ,0\n\" \",1\n");
  EXPECT_EQ(read(file, kTextAndLabel).rows,
            (Rows{{"null", "1"}, {"None", "1"}, {"nan", "0"}, {"", "0"}, {" ", "0"}, {" ", "1"}}));
}

TEST(Csv, BlanksBelongToAField) {
  const TempFolder folder;
  const auto file = folder.write("f.csv", "text,label\n  a b , 1\n\"  c  \",\" 0\"\r\n");
  EXPECT_EQ(read(file, kTextAndLabel).rows, (Rows{{"  a b ", " 1"}, {"  c  ", " 0"}}));
}

TEST(Csv, QuotedLineEndsAreKept) {
  const TempFolder folder;
  const auto file = folder.write("f.csv", "text,label\n\"a\r\nb\n\nc\",1\nd,0");
  const Read got = read(file, kTextAndLabel);
  EXPECT_EQ(got.rows, (Rows{{"a\r\nb\n\nc", "1"}, {"d", "0"}}));
  EXPECT_EQ(got.lines, (std::vector<std::int64_t>{2, 6}));
}

TEST(Csv, BlankLines) {
  const TempFolder folder;
  EXPECT_EQ(read(folder.write("f.csv", "text,label\n\na,1\n\r\n\n"), kTextAndLabel).rows, (Rows{{"a", "1"}}));
  const Read one = read(folder.write("f.csv", "text\na\n\n\"\"\nb\n"), {Column::named("text")});
  EXPECT_EQ(one.rows, (Rows{{"a"}, {""}, {""}, {"b"}}));
  EXPECT_EQ(one.lines, (std::vector<std::int64_t>{2, 3, 4, 5}));
}

TEST(Csv, OtherDelimitersAndNoHeader) {
  const TempFolder folder;
  const std::vector<Column> second_first = {Column::numbered(2), Column::numbered(1)};
  const TableOptions semicolon = {.delimiter = ";", .header = false};
  EXPECT_EQ(read(folder.write("f.dat", "\"a;b\";1\n"), second_first, semicolon).rows, (Rows{{"1", "a;b"}}));
  const TableOptions bar = {.delimiter = "|", .header = false};
  EXPECT_EQ(read(folder.write("f.csv", "\"a|b\"|1\n"), second_first, bar).rows, (Rows{{"1", "a|b"}}));
  EXPECT_EQ(read(folder.write("f.psv", "\"a|b\n"), second_first, bar).rows, (Rows{{"b", "\"a"}}))
      << "a plain split";
  const TableOptions tab = {.delimiter = "\\t", .header = false};
  EXPECT_EQ(read(folder.write("f.csv", "\"a\tb\n"), second_first, tab).rows, (Rows{{"b", "\"a"}}))
      << "tabs never quote";
}

TEST(Jsonl, Case23TypesAndPhysicalLines) {
  const TempFolder folder;
  const auto file =
      folder.write("f.jsonl",
                   "{\"text\":\"a\",\"label\":1}\n\n{\"text\":\"b\",\"label\":\"1\"}\r\n"
                   "{\"label\":true,\"text\":\"\\ud83d\\ude00\"}\n  \n{\"text\":2.5,\"label\":-3}");
  const Read got = read(file, kTextAndLabel);
  EXPECT_EQ(got.rows, (Rows{{"a", "1"}, {"b", "1"}, {"\U0001F600", "true"}, {"2.5", "-3"}}));
  EXPECT_EQ(got.lines, (std::vector<std::int64_t>{1, 3, 4, 6}));
  EXPECT_EQ(table_columns(file, {}), (std::vector<std::string>{"label", "text"}));
}

TEST(PlainLines, AreTextsAsTheyStand) {
  const TempFolder folder;
  const Read got =
      read(folder.write("f", "a\t\"b\r\n\n c"), {Column::named("text")}, {.format = TableFormat::kLines});
  EXPECT_EQ(got.rows, (Rows{{"a\t\"b"}, {""}, {" c"}}));
  EXPECT_EQ(got.lines, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(Table, FormatByExtensionInAnyCase) {
  EXPECT_EQ(table_format("x.TSV", {}), TableFormat::kTsv);
  EXPECT_EQ(table_format("x.txt", {}), TableFormat::kTsv);
  EXPECT_EQ(table_format("x.Csv", {}), TableFormat::kCsv);
  EXPECT_EQ(table_format("x.json", {}), TableFormat::kJsonl);
  EXPECT_EQ(table_format("x.jsonl", {}), TableFormat::kJsonl);
  EXPECT_EQ(table_format("x.txt", {.delimiter = ","}), TableFormat::kCsv);
}

TEST(Table, EmptyFileHasNoRowsAndNoColumns) {
  const TempFolder folder;
  for (const char* name : {"f.tsv", "f.csv", "f.jsonl"}) {
    EXPECT_EQ(read(folder.write(name, ""), kTextAndLabel).rows, Rows{}) << name;
    EXPECT_TRUE(table_columns(folder.write(name, ""), {}).empty()) << name;
  }
}

TEST(Table, LargeFilesStreamWithEqualRows) {
  const TempFolder folder;
  std::string tsv = "text\tlabel\n", csv = "text,label\n", jsonl;
  Rows wanted;
  for (int i = 0; i < 20000; ++i) {
    const std::string text(static_cast<std::size_t>(i % 100), 'x'), label = std::to_string(i);
    tsv += text + "\t" + label + "\n";
    csv += "\"" + text + "\"," + label + "\n";
    jsonl += "{\"text\":\"" + text + "\",\"label\":" + label + "}\n";
    wanted.push_back({text, label});
  }
  EXPECT_EQ(read(folder.write("f.tsv", tsv), kTextAndLabel).rows, wanted);
  EXPECT_EQ(read(folder.write("f.csv", csv), kTextAndLabel).rows, wanted);
  EXPECT_EQ(read(folder.write("f.jsonl", jsonl), kTextAndLabel).rows, wanted);
}

}  // namespace
}  // namespace shoal::data
