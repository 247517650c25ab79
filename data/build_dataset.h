// From a user's file to a Dataset: read rows, tokenise, truncate, add [CLS] and [SEP], map labels.
//
// A row is  [CLS] text [SEP]  (types 0)  or  [CLS] text [SEP] text_pair [SEP]  (types 0 then 1).
// Too long: the text is cut at its end; of a pair, HF's longest_first decides what each side keeps
// (see truncate_pair). Memory goes with the tokens: one row of text is held at a time. Who needs the
// text of a row again (predictions.tsv) opens the file once more with open_table: same rows, same order.
//
// Training, in order: read_labels(train) -> make_label_map -> build_dataset(train), build_dataset(dev).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/labels.h"
#include "data/table.h"
#include "data/tokenizer.h"

namespace shoal::data {

struct DataColumns {
  Column text = Column::named("text");
  std::optional<Column> text_pair = {};
  Column label = Column::named("label");
};

struct DatasetOptions {
  TableOptions table;
  DataColumns columns;
  std::int64_t max_seq_length = 128;          // [CLS] and [SEP] included; at least 3, 4 for pairs
  std::optional<std::int64_t> max_rows = {};  // only the first so many rows (max_train_samples)
  bool regression = false;                    // the label column holds numbers, not classes
};

// The labels of a file, without tokenising it. An empty label is an Error with its line.
LabelSet read_labels(const std::filesystem::path& file, const DatasetOptions& options);

// Regression: the label column is read into Dataset::target, whatever `labels`; a cell that is not a finite
// number is an Error. Else labels == nullptr: the label column is not read, Dataset::label is -1 throughout
// (prediction). Else a label that is not in the map is an Error naming label, file and line.
// A file without a row is an Error.
Dataset build_dataset(const std::filesystem::path& file, const BertTokenizer& tokenizer,
                      const LabelMap* labels, const DatasetOptions& options);

// The same for texts at hand (predict --text): .second is used where options.columns.text_pair is set.
// line[r] = r + 1. No label.
Dataset build_dataset(std::span<const std::pair<std::string_view, std::string_view>> texts,
                      const BertTokenizer& tokenizer, const DatasetOptions& options);

// One column of a file, row by row as build_dataset takes them.
std::vector<std::string> read_column(const std::filesystem::path& file, const Column& column,
                                     const TableOptions& options);

// HF fast's longest_first: how many tokens of a pair of `first` and `second` tokens remain under
// `budget` in all. The shorter side stays whole while it has at most half; else both keep half and an
// odd token goes to the longer side, to the second on a tie.
std::pair<std::int64_t, std::int64_t> truncate_pair(std::int64_t first, std::int64_t second,
                                                    std::int64_t budget);

}  // namespace shoal::data
