// Ids and offsets against Hugging Face's library for every code point and for 100,000 lines of real and
// random text, under V0 and BERT's own vocabularies: hashes of tests/golden/make_tokenizer_parity.py.
// A failure names the block of 16,384 code points, of 1,000 lines, or the file.
#include <algorithm>
#include <optional>

#include "data/text_decoder.h"
#include "data/tokenizer.h"
#include "data/utf8.h"
#include "tests/data/support.h"

namespace shoal::data {
namespace {

namespace fs = std::filesystem;

const nlohmann::json& parity() {
  static const nlohmann::json root = nlohmann::json::parse(read_bytes(SHOAL_PARITY));
  return root;
}

// splitmix64, and the random lines, as in the script.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t n) {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % n;
  }

 private:
  std::uint64_t state_;
};

std::vector<std::vector<std::string>> make_pools() {
  std::vector<std::vector<std::string>> pools;
  for (const std::string pool : parity()["pools"]) {
    std::vector<std::string>& characters = pools.emplace_back();
    for (std::size_t at = 0; at < pool.size();) append_utf8(characters.emplace_back(), decode_utf8(pool, at));
  }
  return pools;
}

std::string random_line(std::uint64_t i) {
  static const std::vector<std::vector<std::string>> pools = make_pools();
  static const std::vector<std::string> special = parity()["special"];
  Numbers numbers(i);
  std::string out;
  for (std::uint64_t left = 1 + numbers.below(40); left > 0; --left) {
    const std::uint64_t kind = numbers.below(16);
    if (kind == 0) {
      const auto point = static_cast<char32_t>(numbers.below(0x110000 - 0x800));
      append_utf8(out, point < 0xd800 ? point : point + 0x800);
    } else if (kind == 1) {
      append_utf8(out, static_cast<char32_t>(numbers.below(0x3400)));
    } else if (kind == 2 && numbers.below(4) == 0) {
      out += special[numbers.below(special.size())];
    } else {
      const std::vector<std::string>& pool = pools[numbers.below(pools.size())];
      out += pool[numbers.below(pool.size())];
    }
  }
  return out;
}

class TokenizerParity : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const std::string file = wanted_["file"];
    const fs::path path = fs::path(SHOAL_SHARED_DATA) / "bert_vocab" / file;
    if (!file.empty() && !fs::exists(path)) GTEST_SKIP() << "no vocabulary at " << path;
    tokenizer_.emplace(file.empty() ? v0() : Vocabulary::read(path), golden_options(wanted_["options"]));
  }

  void add(std::string_view text) {
    ids_.clear();
    fast_ids_.clear();
    spans_.clear();
    tokenizer_->encode_with_offsets(text, ids_, spans_);
    tokenizer_->encode(text, fast_ids_);
    ASSERT_EQ(ids_, fast_ids_) << text;
    ASSERT_EQ(ids_.size(), spans_.size()) << text;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      hash_.add_number(static_cast<std::uint32_t>(ids_[i]));
      hash_.add_number(static_cast<std::uint32_t>(spans_[i].begin));
      hash_.add_number(static_cast<std::uint32_t>(spans_[i].end));
    }
    hash_.add_number(0xffffffffu);
  }

  std::string take_hash() {
    const std::string text = hash_.text();
    hash_ = {};
    return text;
  }

  const nlohmann::json& wanted_ = parity()["vocabularies"][static_cast<std::size_t>(GetParam())];
  std::optional<BertTokenizer> tokenizer_;
  std::vector<std::int32_t> ids_, fast_ids_;
  std::vector<TokenSpan> spans_;
  Fnv hash_;
};

TEST_P(TokenizerParity, EveryCodePoint) {
  ASSERT_EQ(wanted_["points"].size(), 68u);
  std::string text;
  for (std::size_t block = 0; block < 68; ++block) {
    for (char32_t point = static_cast<char32_t>(block * 0x4000); point < (block + 1) * 0x4000; ++point) {
      if (point >= 0xd800 && point < 0xe000) continue;
      append_utf8(text = "", point);
      add(text);
      append_utf8(text = "a", point);
      add(text += 'b');
    }
    EXPECT_EQ(take_hash(), wanted_["points"][block]) << fmt::format("from U+{:04X}", block * 0x4000);
  }
}

TEST_P(TokenizerParity, RandomLines) {
  ASSERT_EQ(wanted_["random"].size(), 30u);
  for (std::size_t block = 0; block < 30; ++block) {
    for (std::size_t i = 0; i < 1000; ++i) add(random_line(block * 1000 + i));
    EXPECT_EQ(take_hash(), wanted_["random"][block]) << "from line " << block * 1000;
  }
}

TEST_P(TokenizerParity, RealLines) {
  std::int64_t sum = 30000;
  for (const nlohmann::json& part : wanted_["real"]) {
    const fs::path file = fs::path(SHOAL_SHARED_DATA) / part["file"].get<std::string>();
    if (!fs::exists(file)) GTEST_SKIP() << "no real data at " << file;
    std::string text = read_bytes(file);
    if (file.parent_path().filename() == "trec") {
      std::string utf8;
      TextDecoder("latin-1", EncodingErrors::kStrict).decode(text, true, utf8);
      text = utf8;
    }
    const std::int64_t lines = part["lines"];
    std::size_t begin = 0;
    for (std::int64_t i = 0; i < lines; ++i) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      add(std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
    }
    sum += lines;
    EXPECT_EQ(take_hash(), part["hash"]) << part.dump();
  }
  EXPECT_GE(sum, 100000);
}

std::string name_of(const ::testing::TestParamInfo<int>& info) {
  return parity()["vocabularies"][static_cast<std::size_t>(info.param)]["name"];
}
INSTANTIATE_TEST_SUITE_P(Vocabularies, TokenizerParity, ::testing::Range(0, 4), name_of);

}  // namespace
}  // namespace shoal::data
