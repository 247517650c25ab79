// What is refused in a table, and in which words.
#include "data/table.h"
#include "tests/data/support.h"

namespace shoal::data {
namespace {

const std::vector<Column> kTextAndLabel = {Column::named("text"), Column::named("label")};

class TableErrors : public ::testing::Test {
 protected:
  std::string error(const std::string& name, std::string_view bytes,
                    std::vector<Column> wanted = kTextAndLabel, const TableOptions& options = {}) {
    return error_of(folder_, [&] {
      const auto reader = open_table(folder_.write(name, bytes), std::move(wanted), options);
      TableRow row;
      while (reader->next(row)) continue;
    });
  }
  TempFolder folder_;
};

TEST_F(TableErrors, UnknownColumn) {
  EXPECT_EQ(error("f.tsv", "sentence\tlable\nx\t1\n"),
            "f.tsv:1: error: no column 'text'; allowed: sentence, lable");
  EXPECT_EQ(error("f.csv", "text,lable\nx,1\n"),
            "f.csv:1: error: no column 'label'; allowed: text, lable; did you mean 'lable'?");
  EXPECT_EQ(error("f.tsv", "text\tlabel\nx\t1\n", {Column::numbered(3)}),
            "f.tsv:1: error: no column 3; the file has 2");
  EXPECT_EQ(error("f.tsv", "x\t1\n", kTextAndLabel, {.header = false}),
            "f.tsv: error: no column 'text': without a header, columns go by number; allowed: 1 to 2");
  EXPECT_EQ(error("f.csv", "text,text,label\nx,y,1\n"),
            "f.csv:1: error: column 'text' stands in the header twice; give its number instead");
}

TEST_F(TableErrors, RowTooShort) {
  EXPECT_EQ(error("f.tsv", "text\tlabel\nx\t1\ny\n"),
            "f.tsv:3: error: the row has 1 field, too few for column 'label' (number 2)");
  EXPECT_EQ(error("f.csv", "id,text,label\n\"1\n2\",y,1\n3,z\n"),
            "f.csv:4: error: the row has 2 fields, too few for column 'label' (number 3)");
  EXPECT_EQ(error("f.tsv", "a\tb\tc\nd\n", {Column::numbered(3)}, {.header = false}),
            "f.tsv:2: error: the row has 1 field, too few for column 3");
}

TEST_F(TableErrors, CsvQuotes) {
  EXPECT_EQ(error("f.csv", "text,label\na,1\n\"b,0\nc,1\n"),
            "f.csv:3: error: the row has a quoted field that the file does not close");
  EXPECT_EQ(error("f.csv", "text,label\na \"b\",1\n"),
            "f.csv:2:3: error: a quote inside a field that is not quoted; wanted: the field in quotes, its "
            "quotes doubled");
  EXPECT_EQ(
      error("f.csv", "text,label\n\"a\" b,1\n"),
      "f.csv:2:4: error: text after the closing quote of a field; wanted: a delimiter, or the quote doubled");
  EXPECT_EQ(
      error("f.csv", "text,label\n\"é,1\nc,\"d,0\n"),
      "f.csv:3:4: error: text after the closing quote of a field; wanted: a delimiter, or the quote doubled "
      "(the row starts on line 2)");
}

TEST_F(TableErrors, Case23JsonLines) {
  EXPECT_EQ(error("f.jsonl",
                  "{\"text\":\"a\",\"label\":1}\n\n{\"text\":\"b\",\"label\":\"1\"}\n{\"label\":0}\n[1]\n"),
            "f.jsonl:4: error: the row has no column 'text'; allowed: label");
  EXPECT_EQ(error("f.jsonl", "{\"text\":\"a\",\"label\":1}\n\n[1]\n"),
            "f.jsonl:3: error: the line is an array; wanted: a JSON object a line");
  EXPECT_EQ(error("f.jsonl", "{\"text\":null,\"label\":1}\n"),
            "f.jsonl:1: error: column 'text' is null; allowed: a string, a number, true, false");
  EXPECT_EQ(error("f.jsonl", "\n{\"text\":\"é\" 1}\n").substr(0, 27), "f.jsonl:2:13: error: not JS");
  EXPECT_EQ(error("f.jsonl", "{\"text\":1,\"label\":2}\n{\"text\":1e999}\n"),
            "f.jsonl:2:9: error: not JSON: the number 1e999 is too large");
  EXPECT_EQ(error("f.jsonl", "{\"text\":1}\n", {Column::numbered(1)}),
            "f.jsonl: error: JSONL has no column 1: its columns go by name; allowed: text");
}

TEST_F(TableErrors, NotUtf8) {
  EXPECT_EQ(error("f.tsv", "text\tlabel\nx\t1\ncaf\xe9\t0\n"),
            "f.tsv:3:4: error: not UTF-8 (byte 0xe9); allowed: UTF-8, unless encoding or encoding_errors "
            "says otherwise");
}

TEST_F(TableErrors, Format) {
  EXPECT_EQ(error("f.parquet", ""),
            "f.parquet: error: the extension '.parquet' does not tell the format; allowed: .tsv, .txt, .csv, "
            ".jsonl, "
            ".json, or a delimiter");
  for (const char* bad : {"", "ab", "\"", "\n", "é"}) {
    EXPECT_NE(error("f.csv", "", kTextAndLabel, {.delimiter = bad}).find("allowed: one ASCII character"),
              std::string::npos)
        << bad;
  }
  EXPECT_EQ(error("f.jsonl", "", kTextAndLabel, {.delimiter = ","}),
            "f.jsonl: error: a delimiter is set, but .jsonl has none");
  EXPECT_EQ(error("f", "", kTextAndLabel, {.format = TableFormat::kLines}),
            "f: error: plain lines have one column, the text; more are asked for");
}

}  // namespace
}  // namespace shoal::data
