// A data set as the engine sees it: token ids, ready to pack. Host only; immutable once built.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace shoal::data {

// What was met while a file was tokenised; printed before training, never hidden.
struct DatasetStats {
  std::int64_t rows = 0;
  std::int64_t tokens = 0;       // after truncation, [CLS] and [SEP] included
  std::int64_t truncated = 0;    // rows that lost tokens to max_seq_length
  std::int64_t unknown = 0;      // tokens that are [UNK]
  std::int64_t pieces = 0;       // tokens without the added [CLS] and [SEP]: unknown / pieces is the share
  std::int64_t longest = 0;      // tokens of the longest row, after truncation
  std::int64_t empty_texts = 0;  // rows whose first text gave no token
};

// Row r holds tokens[begin[r] .. begin[r+1]), [CLS] and [SEP] included; those from second[r] on have
// token type 1 (second[r] == begin[r+1] when there is no second text).
struct Dataset {
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> begin;   // [rows + 1]
  std::vector<std::int64_t> second;  // [rows]
  std::vector<std::int32_t> label;   // [rows], class id; -1 where the file has no label column
  std::vector<float> target;         // [rows] of a regression, where label is 0; else empty
  std::vector<std::int64_t> line;    // [rows], physical line of the file where the row starts, from 1
  std::filesystem::path file;
  DatasetStats stats;

  std::int64_t rows() const { return static_cast<std::int64_t>(line.size()); }
  std::int64_t length(std::int64_t row) const { return begin[row + 1] - begin[row]; }
  std::int64_t length(std::span<const std::int32_t> of) const {
    std::int64_t sum = 0;
    for (const std::int32_t row : of) sum += length(row);
    return sum;
  }
};

// What a job trains on, or is measured by: some rows of a data set that it may share with others. Positions
// count the subset's rows from 0, in ascending order of the data set's.
class Subset {
 public:
  Subset() = default;  // none
  explicit Subset(std::shared_ptr<const Dataset> dataset) : dataset_(std::move(dataset)) {}
  Subset(std::shared_ptr<const Dataset> dataset, std::vector<std::int32_t> rows)
      : dataset_(std::move(dataset)), some_(std::move(rows)) {}

  explicit operator bool() const { return dataset_ != nullptr; }
  const Dataset& dataset() const { return *dataset_; }
  std::int64_t rows() const {
    return some_ ? static_cast<std::int64_t>(some_->size()) : dataset_ ? dataset_->rows() : 0;
  }
  // Row of the data set at a position.
  std::int32_t operator[](std::int64_t position) const {
    return some_ ? (*some_)[static_cast<std::size_t>(position)] : static_cast<std::int32_t>(position);
  }

 private:
  std::shared_ptr<const Dataset> dataset_;
  std::optional<std::vector<std::int32_t>> some_;  // absent: all rows
};

}  // namespace shoal::data
