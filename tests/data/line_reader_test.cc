#include "data/line_reader.h"

#include "tests/data/support.h"

namespace shoal::data {
namespace {

std::vector<std::string> lines(const std::filesystem::path& file) {
  LineReader reader(file);
  std::vector<std::string> out;
  std::string_view line;
  while (reader.next(line)) {
    out.emplace_back(line);
    EXPECT_EQ(reader.line_number(), static_cast<std::int64_t>(out.size()));
  }
  return out;
}

using Lines = std::vector<std::string>;

TEST(LineReader, SplitsAtNewlineOnly) {
  const TempFolder folder;
  EXPECT_EQ(lines(folder.write("f", "a\u0085b\u2028c\fd\n\ne")), (Lines{"a\u0085b\u2028c\fd", "", "e"}));
  EXPECT_EQ(lines(folder.write("f", "")), Lines{});
  EXPECT_EQ(lines(folder.write("f", "\n")), Lines{""});
  EXPECT_EQ(lines(folder.write("f", "a\r\nb\r")), (Lines{"a\r", "b\r"}));
}

TEST(LineReader, DropsAByteOrderMarkAtTheStartOnly) {
  const TempFolder folder;
  EXPECT_EQ(lines(folder.write("f",
                               "\xef\xbb\xbf"
                               "a\n\xef\xbb\xbf"
                               "b\n")),
            (Lines{"a", "\ufeffb"}));
}

TEST(LineReader, LinesLongerThanTheBuffer) {
  const TempFolder folder;
  const std::string big(1500000, 'x');
  EXPECT_EQ(lines(folder.write("f", "a\n" + big + "\nb\n" + big)), (Lines{"a", big, "b", big}));
}

TEST(LineReader, RefusesWhatIsNotUtf8) {
  const TempFolder folder;
  const auto error = [&](std::string_view bytes) {
    return error_of(folder, [&] { lines(folder.write("f", bytes)); });
  };
  EXPECT_EQ(error("good\ncaf\xc3\xa9 caf\xe9\n"),
            "f:2:9: error: not UTF-8 (byte 0xe9); allowed: UTF-8, unless encoding or encoding_errors says "
            "otherwise");
  EXPECT_EQ(error("\xff\xfe"
                  "a"),
            "f:1:1: error: not UTF-8 (byte 0xff, looks like UTF-16); allowed: UTF-8, unless encoding or "
            "encoding_errors says otherwise");
  EXPECT_EQ(error_of(folder, [&] { lines(folder.path() / "none"); }),
            "none: error: cannot be opened: No such file or directory");
  EXPECT_EQ(error_of(folder, [&] { lines(folder.path() / "."); }),
            ".: error: cannot be read: Is a directory");
}

}  // namespace
}  // namespace shoal::data
