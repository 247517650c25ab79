#include "data/tokenize_rows.h"

#include <algorithm>
#include <utility>

#include "kernels/base/error.h"

namespace shoal::data {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 21;
constexpr std::size_t kBlockRows = std::size_t{1} << 15;
constexpr std::size_t kRunRows = 256;

// Tokenises row after row into a data set.
class Run {
 public:
  Run(const BertTokenizer& tokenizer, bool pair, std::size_t budget)
      : tokenizer_(tokenizer), pair_(pair), budget_(budget) {}

  void add(std::string_view first, std::string_view second, std::int32_t label, std::int64_t line) {
    const std::size_t start = set_.tokens.size();
    const Vocabulary& vocabulary = tokenizer_.vocabulary();
    first_.clear();
    second_.clear();
    bool cut = tokenizer_.encode(first, first_, budget_);
    if (first_.empty()) ++set_.stats.empty_texts;
    if (pair_) cut = cut_pair(first, second, cut);
    set_.tokens.push_back(vocabulary.cls());
    set_.tokens.insert(set_.tokens.end(), first_.begin(), first_.end());
    set_.tokens.push_back(vocabulary.sep());
    set_.second.push_back(static_cast<std::int64_t>(set_.tokens.size()));
    if (pair_) {
      set_.tokens.insert(set_.tokens.end(), second_.begin(), second_.end());
      set_.tokens.push_back(vocabulary.sep());
    }
    set_.begin.push_back(static_cast<std::int64_t>(set_.tokens.size()));
    set_.label.push_back(label);
    set_.line.push_back(line);
    count(static_cast<std::int64_t>(set_.tokens.size() - start), cut);
  }

  Dataset take() { return std::move(set_); }

 private:
  // Tokenises the second text and cuts both. Neither side can keep more than the whole budget, so what
  // lies beyond is not tokenised, unless both sides fill it and an odd token asks which one is longer.
  bool cut_pair(std::string_view first, std::string_view second, bool first_cut) {
    const bool second_cut = tokenizer_.encode(second, second_, budget_);
    std::size_t first_size = first_.size() + (first_cut ? 1 : 0);
    std::size_t second_size = second_.size() + (second_cut ? 1 : 0);
    if (first_cut && second_cut && budget_ % 2 == 1) {
      first_size = tokenizer_.count(first);
      second_size = tokenizer_.count(second);
    }
    const auto [keep_first, keep_second] =
        truncate_pair(static_cast<std::int64_t>(first_size), static_cast<std::int64_t>(second_size),
                      static_cast<std::int64_t>(budget_));
    first_.resize(static_cast<std::size_t>(keep_first));
    second_.resize(static_cast<std::size_t>(keep_second));
    return first_size + second_size > budget_;
  }

  void count(std::int64_t length, bool cut) {
    DatasetStats& stats = set_.stats;
    const std::int32_t unknown = tokenizer_.vocabulary().unk();
    ++stats.rows;
    stats.tokens += length;
    stats.truncated += cut;
    stats.pieces += static_cast<std::int64_t>(first_.size() + second_.size());
    stats.unknown += std::ranges::count(first_, unknown) + std::ranges::count(second_, unknown);
    stats.longest = std::max(stats.longest, length);
  }

  const BertTokenizer& tokenizer_;
  bool pair_;
  std::size_t budget_;
  std::vector<std::int32_t> first_, second_;
  Dataset set_;  // without the 0 that begin starts with
};

void append(Dataset& to, const Dataset& run) {
  const auto shift = static_cast<std::int64_t>(to.tokens.size());
  const auto shifted = [shift](std::int64_t at) { return at + shift; };
  to.tokens.insert(to.tokens.end(), run.tokens.begin(), run.tokens.end());
  std::ranges::transform(run.begin, std::back_inserter(to.begin), shifted);
  std::ranges::transform(run.second, std::back_inserter(to.second), shifted);
  to.label.insert(to.label.end(), run.label.begin(), run.label.end());
  to.line.insert(to.line.end(), run.line.begin(), run.line.end());
  to.stats.rows += run.stats.rows;
  to.stats.tokens += run.stats.tokens;
  to.stats.truncated += run.stats.truncated;
  to.stats.unknown += run.stats.unknown;
  to.stats.pieces += run.stats.pieces;
  to.stats.empty_texts += run.stats.empty_texts;
  to.stats.longest = std::max(to.stats.longest, run.stats.longest);
}

}  // namespace

RowTokenizer::RowTokenizer(const BertTokenizer& tokenizer, const DatasetOptions& options, int threads)
    : tokenizer_(tokenizer),
      pair_(options.columns.text_pair.has_value()),
      threads_(static_cast<std::size_t>(threads)) {
  require(threads >= 0, "tokenising with {} threads", threads);
  if (threads_ == 0) threads_ = std::max(1u, std::thread::hardware_concurrency());
  const std::int64_t added = pair_ ? 3 : 2;
  require(options.max_seq_length > added,
          "max_seq_length is {}; wanted: more than the {} special tokens of {}", options.max_seq_length,
          added, pair_ ? "a pair" : "a text");
  budget_ = static_cast<std::size_t>(options.max_seq_length - added);
  set_.begin.push_back(0);
}

RowTokenizer::~RowTokenizer() {
  working_.next = working_.runs.size();  // where rows were refused, nobody waits for the rest
}

void RowTokenizer::add(std::string_view first, std::string_view second, std::int32_t label,
                       std::int64_t line) {
  if (!pair_) second = {};
  std::string& text = filling_.text;
  const std::size_t begin = text.size();
  text.append(first).append(second);
  filling_.rows.push_back({begin, begin + first.size(), text.size(), label, line});
  if (text.size() >= kBlockBytes || filling_.rows.size() >= kBlockRows) start_block();
}

// Hands the block that was filled to the threads, once they are done with the one before.
void RowTokenizer::start_block() {
  finish_block();
  std::swap(filling_.text, working_.text);
  std::swap(filling_.rows, working_.rows);
  working_.runs.resize((working_.rows.size() + kRunRows - 1) / kRunRows);
  working_.next = 0;
  const std::size_t count = std::min(threads_, working_.runs.size());
  if (count <= 1) {
    tokenize_runs();
    return;
  }
  for (std::size_t i = 0; i < count; ++i) workers_.emplace_back([this] { tokenize_runs(); });
}

void RowTokenizer::finish_block() {
  workers_.clear();  // joins
  if (working_.error) std::rethrow_exception(working_.error);
  for (const Dataset& run : working_.runs) append(set_, run);
  working_.runs.clear();
  working_.rows.clear();
  working_.text.clear();
}

void RowTokenizer::tokenize_runs() try {
  const std::string_view text = working_.text;
  for (std::size_t i; (i = working_.next++) < working_.runs.size();) {
    Run run(tokenizer_, pair_, budget_);
    const std::size_t stop = std::min(working_.rows.size(), (i + 1) * kRunRows);
    for (std::size_t r = i * kRunRows; r < stop; ++r) {
      const Row& row = working_.rows[r];
      run.add(text.substr(row.first, row.second - row.first), text.substr(row.second, row.end - row.second),
              row.label, row.line);
    }
    working_.runs[i] = run.take();
  }
} catch (...) {  // out of memory; finish_block() throws the first of them
  if (!working_.failed.exchange(true)) working_.error = std::current_exception();
}

Dataset RowTokenizer::finish(const std::filesystem::path& file) {
  start_block();
  finish_block();
  set_.file = file;
  set_.tokens.shrink_to_fit();
  return std::move(set_);
}

}  // namespace shoal::data
