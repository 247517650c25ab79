// Files in other encodings, and what becomes of bytes that the encoding does not have.
#include "data/line_reader.h"
#include "data/table.h"
#include "tests/data/support.h"

namespace shoal::data {
namespace {

using namespace std::string_literals;

class TextEncodings : public ::testing::Test {
 protected:
  // The lines, each in brackets, or the error.
  std::string lines(std::string_view bytes, const std::string& encoding,
                    const std::string& errors = "strict") {
    std::string out;
    const std::string error = error_of(folder_, [&] {
      LineReader reader(folder_.write("f", bytes), {encoding, errors});
      std::string_view line;
      while (reader.next(line)) out.append("[").append(line).append("]");
    });
    return error == "no error" ? out : error;
  }
  TempFolder folder_;
};

TEST_F(TextEncodings, OneByteACharacter) {
  EXPECT_EQ(lines("caf\xe9\n\x93x\x94", "latin-1"), "[café][\u0093x\u0094]");
  EXPECT_EQ(lines("caf\xe9\n\x93x\x94", "windows-1252"), "[café][\u201cx\u201d]");
  for (const char* name : {"ISO-8859-1", "latin1", "latin_1", "iso8859_1", "LATIN-1", "l1"}) {
    EXPECT_EQ(lines("caf\xe9", name), "[café]") << name;
  }
}

TEST_F(TextEncodings, Utf16WithAndWithoutAMark) {
  EXPECT_EQ(lines("\xff\xfe"
                  "a\0\n\0\x3d\xd8\x00\xde\r\0\n\0"s,
                  "utf-16"),
            "[a][\U0001F600\r]");
  EXPECT_EQ(lines("\xfe\xff\0a\0\n\0b"s, "utf-16"), "[a][b]");
  EXPECT_EQ(lines("\xff\xfe"
                  "a\0"s,
                  "utf-16-le"),
            "[a]");
  EXPECT_EQ(lines("\xff\xfe\0\0a\0\0\0"s, "utf-32"), "[a]");
  // U+0A0A and U+0D0A hold bytes of line ends, but are none.
  EXPECT_EQ(lines("\x0a\x0a\x0d\x0a"s, "utf-16-le"), "[\u0a0a\u0a0d]");
}

TEST_F(TextEncodings, SeveralBytesACharacter) {
  EXPECT_EQ(lines("\xd6\xd0\xb9\xfa\n\x94\x39\xfc\x36", "gb18030"), "[中国][\U0001F600]");
  EXPECT_EQ(lines("\x82\xa9\x82\xab", "shift_jis"), "[かき]");
  EXPECT_EQ(lines("\x1b$B$+$-\x1b(B\na", "iso-2022-jp"), "[かき][a]");
}

TEST_F(TextEncodings, Utf8ByAnyOfItsNames) {
  for (const char* name : {"utf-8", "UTF8", "utf_8", "utf-8-sig"}) {
    EXPECT_EQ(lines("\xef\xbb\xbf"
                    "caf\xc3\xa9",
                    name),
              "[café]")
        << name;
  }
}

TEST_F(TextEncodings, StrictRefusesByLineAndColumn) {
  EXPECT_EQ(lines("ab\xc3\xa9\nx", "ascii"), "f:1:3: error: not ascii (byte 0xc3)");
  EXPECT_EQ(lines("a\nb\n\xe9t\x81\n", "windows-1252"), "f:3:3: error: not windows-1252 (byte 0x81)");
  EXPECT_EQ(lines("a\0\n\0b\0\0\xdcx\0"s, "utf-16-le"), "f:2:2: error: not utf-16-le (bytes 0x00 0xdc)");
  EXPECT_EQ(lines("a\0\n\0b\0\0"s, "utf-16-le"), "f:2:2: error: not utf-16-le (byte 0x00)");
  // Also far behind what one read brings.
  EXPECT_EQ(lines(std::string(300000, 'x') + "\n" + std::string(300000, 'x') + "\xe9", "ascii"),
            "f:2:300001: error: not ascii (byte 0xe9)");
}

TEST_F(TextEncodings, ReplaceAndIgnore) {
  EXPECT_EQ(lines("a\xc3\xa9"
                  "b\xe9",
                  "ascii", "replace"),
            "[a\ufffd\ufffdb\ufffd]");
  EXPECT_EQ(lines("a\xc3\xa9"
                  "b\xe9",
                  "ascii", "ignore"),
            "[ab]");
  EXPECT_EQ(lines("a\0\0\xdc"
                  "b\0\0"s,
                  "utf-16-le", "replace"),
            "[a\ufffdb\ufffd]");
  EXPECT_EQ(lines("a\0\0\xdc"
                  "b\0\0"s,
                  "utf-16-le", "ignore"),
            "[ab]");
}

// What Python's bytes.decode("utf-8", "replace") makes of them.
TEST_F(TextEncodings, Utf8IsRepairedAsPythonDoes) {
  EXPECT_EQ(lines("caf\xe9 x\nok", "utf-8", "replace"), "[caf\ufffd x][ok]");
  EXPECT_EQ(lines("a\xf0\x9f\x98z", "utf-8", "replace"), "[a\ufffdz]");
  EXPECT_EQ(lines("\xed\xa0\x80", "utf-8", "replace"), "[\ufffd\ufffd\ufffd]");
  EXPECT_EQ(lines("\xe0\x80\xf4\x90\x80\xc0\xaf", "utf-8", "replace"),
            "[\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd]");
  EXPECT_EQ(lines("\xf4\x8f\xbf\n\xe4\xb8", "utf-8", "replace"), "[\ufffd][\ufffd]");
  EXPECT_EQ(lines("a\xff\xfe"
                  "b\xe4\xb8",
                  "utf-8", "ignore"),
            "[ab]");
}

TEST_F(TextEncodings, UnknownNamesAreRefused) {
  const std::string known =
      "; allowed: utf-8, latin-1, windows-1252, utf-16, gb18030 and all that `iconv -l` lists";
  for (const std::string name : {"klingon", "", "ascii//IGNORE", "utf-16/x"}) {
    EXPECT_EQ(lines("a", name), "encoding '" + name + "' is not known" + known);
    EXPECT_FALSE(known_encoding(name));
  }
  EXPECT_EQ(lines("a", "utf-8", "lax"), "encoding_errors is 'lax'; allowed: strict, replace, ignore");
}

TEST_F(TextEncodings, EveryFormOfTableHonoursThem) {
  const TableOptions options = {.encoding = "latin-1"};
  const std::vector<Column> text = {Column::named("t\u00e9xt")};
  for (const auto& [name, bytes] : std::initializer_list<std::pair<const char*, std::string_view>>{
           {"f.tsv", "t\xe9xt\tx\nna\xefve\t1\n"},
           {"f.csv", "t\xe9xt,x\r\n\"na\xefve\",1\r\n"},
           {"f.jsonl", "{\"t\xe9xt\": \"na\xefve\"}\n"}}) {
    const auto file = folder_.write(name, bytes);
    const auto reader = open_table(file, text, options);
    TableRow row;
    ASSERT_TRUE(reader->next(row)) << name;
    EXPECT_EQ(row.cells[0], "naïve") << name;
    const auto columns = table_columns(file, options);
    EXPECT_TRUE(std::ranges::find(columns, "t\u00e9xt") != columns.end()) << name;
  }
  const auto lines = open_table(folder_.write("f", "na\xefve"), {Column::numbered(1)},
                                {.format = TableFormat::kLines, .encoding = "latin-1"});
  TableRow row;
  ASSERT_TRUE(lines->next(row));
  EXPECT_EQ(row.cells[0], "naïve");
}

// TREC as it is published: "DESC:manner How did ...", one row with a Latin-1 letter.
TEST_F(TextEncodings, TrecIsLatin1) {
  const std::filesystem::path file = std::filesystem::path(SHOAL_SHARED_DATA) / "trec/train.txt";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no real data at " << file;
  TableOptions options = {.delimiter = " ", .header = false};
  const auto rows = [&] {
    const auto reader = open_table(file, {Column::numbered(1)}, options);
    TableRow row;
    int count = 0;
    while (reader->next(row)) ++count;
    return count;
  };
  EXPECT_THROW(rows(), Error) << "as UTF-8";
  options.encoding = "latin-1";
  EXPECT_EQ(rows(), 5452);
}

}  // namespace
}  // namespace shoal::data
