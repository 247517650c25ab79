#include "data/build_dataset.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>

#include "data/number.h"
#include "data/text_error.h"
#include "data/tokenize_rows.h"
#include "data/utf8.h"
#include "kernels/base/error.h"

namespace shoal::data {
namespace {

[[noreturn]] void fail_unknown_label(const std::filesystem::path& file, std::int64_t line,
                                     std::string_view label, const LabelMap& labels) {
  fail_at(file, line, 0,
          "label " + in_quotes(label) + " is not among the labels of the model" +
              allowed_and_nearest(label, labels.names()));
}

// The model is trained in float: what does not fit one is no target either.
float parse_target(const std::filesystem::path& file, std::int64_t line, const Column& column,
                   std::string_view cell) {
  std::string_view digits = cell;
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  const std::optional<double> value = parse_number(digits);
  if (!value || !std::isfinite(static_cast<float>(*value))) {
    fail_at(file, line, 0,
            fmt::format("{} is {}; a regression learns finite numbers", column.text(), in_quotes(cell)));
  }
  return static_cast<float>(*value);
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
  const bool labelled = labels != nullptr || options.regression;
  if (labelled) wanted.push_back(options.columns.label);
  const auto reader = open_table(file, wanted, options.table);
  const std::int64_t most = options.max_rows.value_or(std::numeric_limits<std::int64_t>::max());
  RowTokenizer builder(tokenizer, options);
  TableRow row;
  std::int64_t rows = 0;
  for (; rows < most && reader->next(row); ++rows) {
    std::int32_t label = labelled ? 0 : -1;
    if (options.regression) {
      builder.add_target(parse_target(file, row.line, options.columns.label, row.cells.back()));
    } else if (labels != nullptr) {
      const auto id = labels->find(row.cells.back());
      if (!id) fail_unknown_label(file, row.line, row.cells.back(), *labels);
      label = *id;
    }
    builder.add(row.cells[0], options.columns.text_pair ? row.cells[1] : std::string_view(), label, row.line);
  }
  if (rows == 0) fail_at(file, 0, 0, "no row of data");
  return builder.finish(file);
}

std::vector<std::string> read_column(const std::filesystem::path& file, const Column& column,
                                     const TableOptions& options) {
  const auto reader = open_table(file, {column}, options);
  std::vector<std::string> cells;
  for (TableRow row; reader->next(row);) cells.emplace_back(row.cells[0]);
  return cells;
}

Dataset build_dataset(std::span<const std::pair<std::string_view, std::string_view>> texts,
                      const BertTokenizer& tokenizer, const DatasetOptions& options) {
  RowTokenizer builder(tokenizer, options);
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
