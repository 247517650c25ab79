#include "data/text_error.h"

#include "tests/data/support.h"

namespace shoal::data {
namespace {

std::string message(std::int64_t line, std::int64_t column) {
  try {
    fail_at("d/f.tsv", line, column, "what");
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(TextError, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(message(3, 7), "d/f.tsv:3:7: error: what");
  EXPECT_EQ(message(3, 0), "d/f.tsv:3: error: what");
  EXPECT_EQ(message(0, 0), "d/f.tsv: error: what");
}

TEST(TextError, NearestName) {
  const std::vector<std::string> names = {"sentence", "label", "idx"};
  EXPECT_EQ(nearest_name("sentense", names), "sentence");
  EXPECT_EQ(nearest_name("lable", names), "label");  // two neighbours swapped: one edit
  EXPECT_EQ(nearest_name("LABEL", names), "label");
  EXPECT_EQ(nearest_name("text", names), "");
  EXPECT_EQ(nearest_name("x", names), "");
  EXPECT_EQ(nearest_name("a", std::vector<std::string>{"b"}), "") << "one letter is near to nothing";
}

TEST(TextError, ListsAtMostTwentyNames) {
  EXPECT_EQ(allowed_and_nearest("lable", std::vector<std::string>{"text", "label"}),
            "; allowed: text, label; did you mean 'label'?");
  EXPECT_EQ(allowed_and_nearest("x", {}), "");
  std::vector<std::string> many;
  for (int i = 0; i < 30; ++i) many.push_back("name" + std::to_string(i));
  const std::string text = allowed_and_nearest("zzz", many);
  EXPECT_NE(text.find("name19, ... (30 in all)"), std::string::npos) << text;
  EXPECT_EQ(text.find("name20"), std::string::npos) << text;
}

TEST(TextError, ValuesInQuotesStayOneLine) {
  EXPECT_EQ(in_quotes("a\nb\t\x01"), "'a\\nb\\t\\x01'");
  EXPECT_EQ(in_quotes("é"), "'é'");
  EXPECT_EQ(in_quotes(std::string(70, 'x')), fmt::format("'{}...'", std::string(60, 'x')));
}

}  // namespace
}  // namespace shoal::data
