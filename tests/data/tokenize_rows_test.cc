// Rows tokenised by several threads, and what long and many rows cost: case 13 of the awkward inputs.
#include "data/tokenize_rows.h"

#include <sys/resource.h>

#include <array>
#include <chrono>

#include "tests/data/support.h"

namespace shoal::data {
namespace {

Dataset tokenize(const BertTokenizer& tokenizer, const DatasetOptions& options, int threads, int count) {
  const std::string words[] = {"note book", "the line [SEP]", "", "hello world!", "中国 x", "qq"};
  RowTokenizer rows(tokenizer, options, threads);
  std::string first;
  for (int r = 0; r < count; ++r) {
    first.clear();
    for (int i = r % 23; i >= 0; --i) first += words[static_cast<std::size_t>(i * r % 6)] + " ";
    rows.add(r % 11 == 3 ? "" : first, words[static_cast<std::size_t>(r % 6)], r % 5, 2 * r + 2);
    if (options.regression) rows.add_target(static_cast<float>(r));
  }
  return rows.finish("f.tsv");
}

std::array<std::int64_t, 7> all_of(const DatasetStats& s) {
  return {s.rows, s.tokens, s.truncated, s.unknown, s.pieces, s.longest, s.empty_texts};
}

TEST(TokenizeRows, TheSameForAnyNumberOfThreads) {
  const BertTokenizer tokenizer(v0());
  for (const bool pair : {false, true}) {
    DatasetOptions options;
    options.max_seq_length = 20;
    options.regression = pair;
    if (pair) options.columns.text_pair = Column::named("pair");
    const Dataset one = tokenize(tokenizer, options, 1, 70001);  // several blocks, the last run not full
    ASSERT_EQ(one.rows(), 70001);
    EXPECT_EQ(one.begin.back(), static_cast<std::int64_t>(one.tokens.size()));
    EXPECT_EQ(one.stats.tokens, one.begin.back());
    EXPECT_EQ(one.target.size(), pair ? 70001u : 0u);
    EXPECT_EQ(one.line[70000], 140002);
    EXPECT_GT(one.stats.truncated, 1000);
    EXPECT_GT(one.stats.unknown, 1000);
    for (const int threads : {2, 7}) {
      const Dataset many = tokenize(tokenizer, options, threads, 70001);
      EXPECT_EQ(many.tokens, one.tokens) << threads;
      EXPECT_EQ(many.begin, one.begin) << threads;
      EXPECT_EQ(many.second, one.second) << threads;
      EXPECT_EQ(many.label, one.label) << threads;
      EXPECT_EQ(many.line, one.line) << threads;
      EXPECT_EQ(many.target, one.target) << threads;
      EXPECT_EQ(all_of(many.stats), all_of(one.stats)) << threads;
    }
  }
}

TEST(TokenizeRows, RowsThatNobodyFinishes) {
  const BertTokenizer tokenizer(v0());
  RowTokenizer rows(tokenizer, {}, 4);
  for (int r = 0; r < 40000; ++r) rows.add("note book the line", {}, 0, r);
}

TEST(TokenizeRows, EmptyAndRefused) {
  const BertTokenizer tokenizer(v0());
  EXPECT_EQ(RowTokenizer(tokenizer, {}, 3).finish({}).rows(), 0);
  EXPECT_THROW(RowTokenizer(tokenizer, {}, -1), Error);
}

double seconds_of(const BertTokenizer& tokenizer, const std::string& first, const std::string& second) {
  DatasetOptions options;
  options.max_seq_length = 256;  // 253 for both: odd, so lengths must be known
  options.columns.text_pair = Column::named("pair");
  const auto start = std::chrono::steady_clock::now();
  RowTokenizer rows(tokenizer, options, 1);
  rows.add(first, second, 0, 1);
  const Dataset set = rows.finish({});
  EXPECT_EQ(set.length(0), 256);
  EXPECT_EQ(set.second[0], first.size() > second.size() ? 129 : 128);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(TokenizeRows, Case13PairsOfLongTexts) {
  const BertTokenizer tokenizer(v0());
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "note ";
  // In 0.02 s; a second is what quadratic time or counting by tokens kept in memory would not do.
  EXPECT_LT(seconds_of(tokenizer, text, text), 1.0);
  EXPECT_LT(seconds_of(tokenizer, text + "note", text), 1.0);
  EXPECT_LT(seconds_of(tokenizer, text, text + "note"), 1.0);
  EXPECT_LT(seconds_of(tokenizer, std::string(1000000, 'q') + " " + text, text), 1.0);
}

std::int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{1024} * usage.ru_maxrss;
}

template <typename T>
std::int64_t bytes_of(const std::vector<T>& of) {
  return static_cast<std::int64_t>(of.capacity() * sizeof(T));
}

// 200,000 rows, 64 MB of text, 7 tokens a row: what is held goes with the tokens.
TEST(TokenizeRows, MemoryGoesWithTheTokens) {
  constexpr std::int64_t kRows = 200000;
  const TempFolder folder;
  const auto file = folder.path() / "f.tsv";
  {
    std::ofstream out(file);
    const std::string word(300, 'q');
    out << "text\tlabel\n";
    for (std::int64_t r = 0; r < kRows; ++r) out << "note book the line " << word << "\t0\n";
  }
  const BertTokenizer tokenizer(v0());
  const std::int64_t before = peak_bytes();
  const Dataset set = build_dataset(file, tokenizer, nullptr, {});
  const std::int64_t grown = peak_bytes() - before;
  EXPECT_EQ(set.rows(), kRows);
  EXPECT_EQ(set.stats.tokens, 7 * kRows);
  // A token has 4 bytes, a row 28; vectors that grow hold twice that, and the half they grow from.
  const std::int64_t need = 4 * set.stats.tokens + 28 * kRows;
  EXPECT_LT(bytes_of(set.tokens) + bytes_of(set.begin) + bytes_of(set.second) + bytes_of(set.label) +
                bytes_of(set.line),
            2 * need);
#if !defined(__SANITIZE_ADDRESS__)  // which keeps freed memory, and shadows all
  // Two blocks of 2 MiB with what was made of them, and the stacks of the threads.
  EXPECT_LT(grown, 3 * need + (std::int64_t{16} << 20));
#else
  EXPECT_GE(grown, 0);
#endif
}

}  // namespace
}  // namespace shoal::data
