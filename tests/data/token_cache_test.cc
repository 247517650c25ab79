// Tokenised files that are kept: found again, and never trusted.
#include "data/token_cache.h"

#include <functional>

#include "tests/data/support.h"

namespace shoal::data {
namespace {

namespace fs = std::filesystem;

class TokenCache : public ::testing::Test {
 protected:
  CachedDataset build() { return build_dataset_cached(cache_, file_, tokenizer_, labels_, options_); }
  fs::path kept() { return cache_file(cache_, file_, tokenizer_, labels_, options_); }
  std::int64_t files() { return std::distance(fs::directory_iterator(cache_), {}); }

  TempFolder folder_;
  fs::path cache_ = folder_.path() / "made" / "cache";
  fs::path file_ =
      folder_.write("f.tsv", "text\tpair\tlabel\nnote book\tthe line\tno\n\na [SEP] qq\t\tyes\n");
  BertTokenizer tokenizer_{v0()};
  LabelMap names_{std::vector<std::string>{"no", "yes"}};
  const LabelMap* labels_ = &names_;
  DatasetOptions options_ = {.columns = {.text_pair = Column::named("pair")}};
};

void expect_same(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.begin, b.begin);
  EXPECT_EQ(a.second, b.second);
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.line, b.line);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.file, b.file);
  EXPECT_EQ(a.stats.rows, b.stats.rows);
  EXPECT_EQ(a.stats.tokens, b.stats.tokens);
  EXPECT_EQ(a.stats.unknown, b.stats.unknown);
  EXPECT_EQ(a.stats.pieces, b.stats.pieces);
  EXPECT_EQ(a.stats.longest, b.stats.longest);
}

TEST_F(TokenCache, FindsWhatItKept) {
  const Dataset wanted = build_dataset(file_, tokenizer_, labels_, options_);
  const CachedDataset first = build(), second = build();
  EXPECT_FALSE(first.found);
  EXPECT_EQ(first.note, "");
  EXPECT_TRUE(second.found);
  expect_same(first.dataset, wanted);
  expect_same(second.dataset, wanted);
  EXPECT_EQ(files(), 1) << "nothing but the file is left";
}

TEST_F(TokenCache, KeepsTargets) {
  file_ = folder_.write("g.tsv", "text\tlabel\nnote\t0.5\nbook\t-2\n");
  labels_ = nullptr;
  options_ = {.regression = true};
  build();
  const CachedDataset again = build();
  EXPECT_TRUE(again.found);
  EXPECT_EQ(again.dataset.target, (std::vector<float>{0.5f, -2.0f}));
}

// The content counts, not the place.
TEST_F(TokenCache, ACopyOfTheFileIsFound) {
  build();
  const fs::path copy = folder_.path() / "copy.tsv";
  fs::copy_file(file_, copy);
  file_ = copy;
  const CachedDataset again = build();
  EXPECT_TRUE(again.found);
  EXPECT_EQ(again.dataset.file, copy);
}

TEST_F(TokenCache, AnyChangeIsTokenisedAnew) {
  build();
  LabelMap other({"no", "yes", "maybe"});
  LabelMap folding = LabelMap::from_checkpoint({"no", "yes"});
  auto tokens = golden()["vocab"].get<std::vector<std::string>>();
  std::swap(tokens[5], tokens[6]);
  const std::vector<std::pair<const char*, std::function<void()>>> changes = {
      {"length", [&] { options_.max_seq_length = 64; }},
      {"rows", [&] { options_.max_rows = 2; }},
      {"pair", [&] { options_.columns.text_pair = {}; }},
      {"column", [&] { options_.columns.text = Column::numbered(1); }},
      {"label", [&] { options_.columns.label = Column::numbered(3); }},
      {"encoding", [&] { options_.table.encoding = "latin-1"; }},
      {"errors", [&] { options_.table.encoding_errors = "replace"; }},
      {"delimiter", [&] { options_.table.delimiter = "\t"; }},
      {"labels", [&] { labels_ = &other; }},
      {"folding", [&] { labels_ = &folding; }},
      {"unlabelled", [&] { labels_ = nullptr; }},
  };
  for (const auto& [what, change] : changes) {
    change();
    EXPECT_FALSE(build().found) << what;
    EXPECT_TRUE(build().found) << what;
  }
  for (const BertTokenizer& tokenizer :
       {BertTokenizer(v0(), {.do_lower_case = false}), BertTokenizer(v0(), {.strip_accents = false}),
        BertTokenizer(v0(), {.tokenize_chinese_chars = false}), BertTokenizer(v0(), {.clean_text = false}),
        BertTokenizer(v0(), {.max_chars_per_word = 99}),
        BertTokenizer(Vocabulary::from_tokens(tokens, "V1"))}) {
    EXPECT_FALSE(build_dataset_cached(cache_, file_, tokenizer, labels_, options_).found);
    EXPECT_TRUE(build_dataset_cached(cache_, file_, tokenizer, labels_, options_).found);
  }
  folder_.write("f.tsv", "text\tpair\tlabel\nnote book\tthe line\tno\n\na [SEP] qx\t\tyes\n");
  EXPECT_FALSE(build().found) << "the text";
}

TEST_F(TokenCache, NothingDamagedIsBelieved) {
  const Dataset wanted = build().dataset;
  const std::string good = read_bytes(kept());
  const auto put = [&](std::string_view bytes) { std::ofstream(kept(), std::ios::binary) << bytes; };
  for (std::size_t at = 0; at < good.size(); at += 3) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    put(bad);
    const CachedDataset again = build();
    ASSERT_FALSE(again.found) << "byte " << at;
    ASSERT_EQ(again.dataset.tokens, wanted.tokens);
  }
  for (const std::string& bad : {std::string(), good.substr(0, 50), good.substr(0, good.size() - 1),
                                 good + "x", std::string(good.size(), '\xff'), std::string("PK\3\4")}) {
    put(bad);
    EXPECT_FALSE(build().found);
    EXPECT_EQ(read_bytes(kept()), good) << "written over";
  }
  // Sound in itself, but another's: its ids are beyond this vocabulary.
  std::string big;
  for (const char* token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) big.append(token).append("\n");
  for (int i = 0; i < 100; ++i) big += fmt::format("[filler{}]\n", i);
  const BertTokenizer other(Vocabulary::parse(big + "note\nbook\n", "big"));
  build_dataset_cached(cache_, file_, other, labels_, options_);
  fs::copy_file(cache_file(cache_, file_, other, labels_, options_), kept(),
                fs::copy_options::overwrite_existing);
  EXPECT_FALSE(build().found);
}

TEST_F(TokenCache, WithoutAFolderAndWithoutRoom) {
  cache_.clear();
  EXPECT_FALSE(build().found);
  EXPECT_FALSE(build().found);
  cache_ = folder_.write("plain", "") / "cache";  // cannot be made
  const CachedDataset built = build();
  EXPECT_EQ(built.dataset.rows(), 2);
  EXPECT_NE(built.note.find("the tokenised text is not kept in cache_dir: "), std::string::npos)
      << built.note;
  EXPECT_NE(built.note.find("Not a directory"), std::string::npos) << built.note;
}

TEST_F(TokenCache, ErrorsAreThoseOfTheTextFile) {
  folder_.write("f.tsv", "text\tpair\tlabel\nnote\tbook\tperhaps\n");
  EXPECT_EQ(error_of(folder_, [&] { build(); }),
            "f.tsv:2: error: label 'perhaps' is not among the labels of the model; allowed: no, yes");
  EXPECT_FALSE(fs::exists(cache_));
  file_ = folder_.path() / "none.tsv";
  EXPECT_EQ(error_of(folder_, [&] { build(); }),
            "none.tsv: error: cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace shoal::data
