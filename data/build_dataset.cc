#include "data/build_dataset.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>

#include "data/text_error.h"
#include "data/utf8.h"
#include "kernels/base/error.h"

namespace shoal::data {
namespace {

// Appends rows to a data set.
class Builder {
 public:
  Builder(const BertTokenizer& tokenizer, const DatasetOptions& options)
      : tokenizer_(tokenizer), pair_(options.columns.text_pair.has_value()) {
    const std::int64_t added = pair_ ? 3 : 2;
    require(options.max_seq_length > added,
            "max_seq_length is {}; wanted: more than the {} special tokens of {}", options.max_seq_length,
            added, pair_ ? "a pair" : "a text");
    budget_ = static_cast<std::size_t>(options.max_seq_length - added);
    set_.begin.push_back(0);
  }

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

  Dataset finish(const std::filesystem::path& file) {
    set_.file = file;
    set_.tokens.shrink_to_fit();
    return std::move(set_);
  }

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
  std::size_t budget_ = 0;
  std::vector<std::int32_t> first_, second_;
  Dataset set_;
};

[[noreturn]] void fail_unknown_label(const std::filesystem::path& file, std::int64_t line,
                                     std::string_view label, const LabelMap& labels) {
  fail_at(file, line, 0,
          "label " + in_quotes(label) + " is not among the labels of the model" +
              allowed_and_nearest(label, labels.names()));
}

}  // namespace

std::pair<std::int64_t, std::int64_t> truncate_pair(std::int64_t first, std::int64_t second,
                                                    std::int64_t budget) {
  if (first + second <= budget) return {first, second};
  const std::int64_t half = budget / 2;
  const std::int64_t shorter = std::min(first, second);
  if (shorter <= half) {
    return first <= second ? std::pair(first, budget - first) : std::pair(budget - second, second);
  }
  const std::int64_t rest = budget - half;
  return first > second ? std::pair(rest, half) : std::pair(half, rest);
}

LabelSet read_labels(const std::filesystem::path& file, const DatasetOptions& options) {
  LabelSet labels;
  labels.file = file;
  labels.column = options.columns.label.text();
  const auto reader = open_table(file, {options.columns.label}, options.table);
  std::unordered_map<std::string, std::size_t> places;
  TableRow row;
  while (reader->next(row)) {
    const std::string_view name = row.cells[0];
    if (name.empty()) fail_at(file, row.line, 0, "the label is empty");
    const auto [place, is_new] = places.try_emplace(std::string(name), labels.entries.size());
    if (is_new) labels.entries.push_back({std::string(name), 0, row.line});
    ++labels.entries[place->second].rows;
    ++labels.rows;
  }
  if (labels.rows == 0) fail_at(file, 0, 0, "no row of data");
  return labels;
}

Dataset build_dataset(const std::filesystem::path& file, const BertTokenizer& tokenizer,
                      const LabelMap* labels, const DatasetOptions& options) {
  std::vector<Column> wanted = {options.columns.text};
  if (options.columns.text_pair) wanted.push_back(*options.columns.text_pair);
  if (labels != nullptr) wanted.push_back(options.columns.label);
  const auto reader = open_table(file, wanted, options.table);
  const std::int64_t most = options.max_rows.value_or(std::numeric_limits<std::int64_t>::max());
  Builder builder(tokenizer, options);
  TableRow row;
  std::int64_t rows = 0;
  for (; rows < most && reader->next(row); ++rows) {
    std::int32_t label = -1;
    if (labels != nullptr) {
      const auto id = labels->find(row.cells.back());
      if (!id) fail_unknown_label(file, row.line, row.cells.back(), *labels);
      label = *id;
    }
    builder.add(row.cells[0], options.columns.text_pair ? row.cells[1] : std::string_view(), label, row.line);
  }
  if (rows == 0) fail_at(file, 0, 0, "no row of data");
  return builder.finish(file);
}

Dataset build_dataset(std::span<const std::pair<std::string_view, std::string_view>> texts,
                      const BertTokenizer& tokenizer, const DatasetOptions& options) {
  Builder builder(tokenizer, options);
  std::int64_t line = 0;
  for (const auto& [first, second] : texts) {
    ++line;
    for (const std::string_view text : {first, second}) {
      require(first_invalid_utf8(text) == text.size(), "text {} is not UTF-8", line);
    }
    builder.add(first, second, -1, line);
  }
  return builder.finish({});
}

}  // namespace shoal::data
