// What a user's table looks like: how it is to be read, and which columns may be text, pair and label.
// Guesses for a person to look over (`shoal init`), never used to train on.
//
// encoding   UTF-8 where every line is, else windows-1252
// delimiter  the extension's; of a .csv or .txt whatever of , ; tab | stands equally often in the first lines
// header     the first row is one, unless a cell of it is a number, empty, or occurs again in its own column
// label      a column of a usual name, else the one of fewest distinct values that repeat
// text       a column of a usual name, else the longest; a pair where two columns have names that go together
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/table.h"

namespace shoal::data {

struct ColumnFacts {
  std::string name;  // of the header, or the number
  std::int64_t empty = 0;
  std::int64_t numbers = 0;  // cells that are numbers; of them
  std::int64_t whole_numbers = 0;
  std::int64_t longest = 0;  // characters
  double mean_characters = 0;
  // Distinct values with their counts, by count; not kept on beyond kMostValues.
  std::vector<std::pair<std::string, std::int64_t>> values;
  bool many_values = false;
};
constexpr std::size_t kMostValues = 1000;

struct Sniffed {
  TableOptions table;
  TableFormat format = TableFormat::kTsv;
  std::int64_t rows = 0;
  std::vector<ColumnFacts> columns;
  std::optional<std::size_t> text, text_pair, label;  // indices of columns
  bool regression = false;                            // the label is a quantity
};

// Reads the whole file once. Error where it cannot be read as a table.
Sniffed sniff(const std::filesystem::path& file);

}  // namespace shoal::data
