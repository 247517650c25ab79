// From files to token rows: truncation, statistics, labels; cases 10, 11, 22 and 25.
#include "data/build_dataset.h"

#include "tests/data/support.h"

namespace shoal::data {
namespace {

BertTokenizer tokenizer() {
  return BertTokenizer(v0());
}

std::string row_text(const Dataset& set, const BertTokenizer& with, std::int64_t row) {
  std::string out;
  for (std::int64_t i = set.begin[static_cast<std::size_t>(row)];
       i < set.begin[static_cast<std::size_t>(row) + 1]; ++i) {
    if (i == set.second[static_cast<std::size_t>(row)]) out += " |";
    out.append(out.empty() ? "" : " ")
        .append(with.vocabulary().token(set.tokens[static_cast<std::size_t>(i)]));
  }
  return out;
}

DatasetOptions pairs(std::int64_t max_seq_length) {
  DatasetOptions options;
  options.max_seq_length = max_seq_length;
  options.columns.text_pair = Column::named("pair");
  return options;
}

std::string repeated(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(TruncatePair, GoldenCuts) {
  ASSERT_GT(golden()["cuts"].size(), 500u);
  for (const nlohmann::json& cut : golden()["cuts"]) {
    const std::int64_t first = cut[0], second = cut[1], max_length = cut[2];
    const auto kept = truncate_pair(first, second, max_length - 3);
    EXPECT_EQ(kept, (std::pair<std::int64_t, std::int64_t>(cut[3], cut[4]))) << cut.dump();
  }
}

TEST(BuildDataset, GoldenCutsThroughRealTexts) {
  const BertTokenizer with = tokenizer();
  for (const nlohmann::json& cut : golden()["cuts"]) {
    const std::string first = repeated(",", cut[0]), second = repeated(".", cut[1]);
    const std::pair<std::string_view, std::string_view> row[] = {{first, second}};
    const Dataset set = build_dataset(row, with, pairs(cut[2]));
    const std::int64_t kept_first = cut[3], kept_second = cut[4];
    EXPECT_EQ(set.second[0], kept_first + 2) << cut.dump();
    EXPECT_EQ(set.begin[1], kept_first + kept_second + 3) << cut.dump();
    EXPECT_EQ(set.stats.truncated, kept_first + kept_second < cut[0].get<int>() + cut[1].get<int>())
        << cut.dump();
  }
}

TEST(BuildDataset, Case10EmptyFirstText) {
  const std::string second = repeated("the ", 600);
  const std::pair<std::string_view, std::string_view> row[] = {{"", second}};
  const Dataset set = build_dataset(row, tokenizer(), pairs(512));
  EXPECT_EQ(set.length(0), 512);
  EXPECT_EQ(set.second[0], 2);
  EXPECT_EQ(set.stats.truncated, 1);
  EXPECT_EQ(set.stats.empty_texts, 1);
}

TEST(BuildDataset, Case11BothTextsAtTheLimit) {
  for (const auto& [first, wanted] :
       std::initializer_list<std::pair<int, int>>{{124, 62}, {125, 62}, {126, 62}, {131, 63}}) {
    const std::string a = repeated(",", first), b = repeated(".", 130);
    const std::pair<std::string_view, std::string_view> row[] = {{a, b}};
    const Dataset set = build_dataset(row, tokenizer(), pairs(128));
    EXPECT_EQ(set.length(0), 128) << first;
    EXPECT_EQ(set.second[0] - 2, wanted) << first;
  }
}

TEST(BuildDataset, FromAFile) {
  const TempFolder folder;
  const auto file =
      folder.write("f.tsv", "text\tpair\tlabel\nnote book\tthe line\tno\n\na [SEP] qq\t\tyes\n");
  const LabelMap labels({"no", "yes"});
  const BertTokenizer with = tokenizer();
  const Dataset set = build_dataset(file, with, &labels, pairs(128));
  ASSERT_EQ(set.rows(), 2);
  EXPECT_EQ(row_text(set, with, 0), "[CLS] note book [SEP] | the line [SEP]");
  EXPECT_EQ(row_text(set, with, 1), "[CLS] a [SEP] [UNK] [SEP] | [SEP]");
  EXPECT_EQ(set.label, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(set.line, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(set.file, file);
  EXPECT_EQ(set.stats.rows, 2);
  EXPECT_EQ(set.stats.tokens, 13);
  EXPECT_EQ(set.stats.pieces, 7);
  EXPECT_EQ(set.stats.unknown, 1);
  EXPECT_EQ(set.stats.longest, 7);
  EXPECT_EQ(set.stats.truncated, 0);
  EXPECT_EQ(set.stats.empty_texts, 0);
}

TEST(BuildDataset, NumbersOfARegression) {
  const TempFolder folder;
  const auto file = folder.write("a.csv", "text,label\nnote,+1.5\nbook,-2e-1\nnote,0\n");
  DatasetOptions options;
  options.regression = true;
  const Dataset set = build_dataset(file, tokenizer(), nullptr, options);
  EXPECT_EQ(set.target, (std::vector<float>{1.5f, -0.2f, 0}));
  EXPECT_EQ(set.label, (std::vector<std::int32_t>{0, 0, 0}));
  EXPECT_EQ(read_column(file, Column::named("label"), options.table),
            (std::vector<std::string>{"+1.5", "-2e-1", "0"}));
  const auto bad = folder.write("b.csv", "text,label\nnote,1\nbook,+-1\n");
  EXPECT_EQ(error_of(folder, [&] { build_dataset(bad, tokenizer(), nullptr, options); }),
            "b.csv:3: error: column 'label' is '+-1'; a regression learns finite numbers");
}

TEST(BuildDataset, OneTextHasNoSecond) {
  const TempFolder folder;
  const auto file = folder.write("f.csv", "text,label\nnote book one line,1\n,1\nnote book,0\n");
  const BertTokenizer with = tokenizer();
  DatasetOptions options;
  options.max_seq_length = 5;
  const Dataset set = build_dataset(file, with, nullptr, options);
  EXPECT_EQ(row_text(set, with, 0), "[CLS] note book one [SEP]");
  EXPECT_EQ(row_text(set, with, 1), "[CLS] [SEP]") << "case 22: an empty text is a row";
  for (std::size_t r = 0; r < 3; ++r) EXPECT_EQ(set.second[r], set.begin[r + 1]);
  EXPECT_EQ(set.label, (std::vector<std::int32_t>{-1, -1, -1})) << "not asked for";
  EXPECT_EQ(set.stats.truncated, 1);
  EXPECT_EQ(set.stats.empty_texts, 1);
  options.max_rows = 2;
  EXPECT_EQ(build_dataset(file, with, nullptr, options).rows(), 2);
}

TEST(BuildDataset, OneFunctionForTextsLinesAndFiles) {
  const TempFolder folder;
  const BertTokenizer with = tokenizer();
  DatasetOptions lines;
  lines.table.format = TableFormat::kLines;
  const Dataset from_lines = build_dataset(folder.write("f", "note book\nthe line\n"), with, nullptr, lines);
  const Dataset from_file =
      build_dataset(folder.write("f.tsv", "text\nnote book\nthe line\n"), with, nullptr, {});
  const std::pair<std::string_view, std::string_view> rows[] = {{"note book", ""}, {"the line", ""}};
  const Dataset from_texts = build_dataset(rows, with, {});
  EXPECT_EQ(from_lines.tokens, from_file.tokens);
  EXPECT_EQ(from_texts.tokens, from_file.tokens);
  EXPECT_EQ(from_texts.begin, from_file.begin);
}

TEST(BuildDataset, Case25LabelThatTrainingDoesNotHave) {
  const TempFolder folder;
  const auto train = folder.write("train.tsv", "text\tlabel\na\tpos\nb\tneg\n");
  const auto dev = folder.write("dev.tsv", "text\tlabel\na\tpos\nb\tneutral\n");
  const LabelMap labels = make_label_map(read_labels(train, {}));
  const auto error = [&](const std::filesystem::path& file) {
    return error_of(folder, [&] { build_dataset(file, tokenizer(), &labels, {}); });
  };
  EXPECT_EQ(error(dev),
            "dev.tsv:3: error: label 'neutral' is not among the labels of the model; allowed: neg, pos");
  EXPECT_EQ(error(folder.write("dev.tsv", "text\tlabel\nb\tPos\n")),
            "dev.tsv:2: error: label 'Pos' is not among the labels of the model; allowed: neg, pos; did you "
            "mean 'pos'?");
}

TEST(BuildDataset, Refuses) {
  const TempFolder folder;
  const auto empty = folder.write("f.tsv", "text\tlabel\n");
  EXPECT_EQ(error_of(folder, [&] { build_dataset(empty, tokenizer(), nullptr, {}); }),
            "f.tsv: error: no row of data");
  DatasetOptions options;
  options.max_seq_length = 2;
  EXPECT_EQ(error_of(folder, [&] { build_dataset(empty, tokenizer(), nullptr, options); }),
            "max_seq_length is 2; wanted: more than the 2 special tokens of a text");
  EXPECT_EQ(error_of(folder, [&] { build_dataset(empty, tokenizer(), nullptr, pairs(3)); }),
            "f.tsv:1: error: no column 'pair'; allowed: text, label");
  const std::pair<std::string_view, std::string_view> latin[] = {{"a", ""}, {"caf\xe9", ""}};
  EXPECT_EQ(error_of(folder, [&] { build_dataset(latin, tokenizer(), {}); }), "text 2 is not UTF-8");
}

}  // namespace
}  // namespace shoal::data
