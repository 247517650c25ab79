// A table in a user's file, read row by row: TSV, CSV, JSONL, or plain lines. Memory: one row at a time.
//
// Common to all forms: UTF-8 unless `encoding` says otherwise; cells are UTF-8 in any case. A byte order mark
// at the start is dropped, bytes that the encoding does not have are an Error with line and column unless
// `encoding_errors` says otherwise. A line ends at \n alone (U+0085 or U+2028 are text), a \r before it is
// dropped. Line numbers in rows and in errors are physical lines of the file, from 1.
//   TSV    no quoting at all (as GLUE's files): a line is split at the delimiter, quotes are text
//   CSV    RFC 4180 (libcsv): newlines and doubled quotes inside quotes; blanks around a field belong to it
//   JSONL  an object a line, blank lines are skipped; a cell may be a string, a number, true or false
//   lines  one text a line, all of it; the only column is number 1
// TSV and CSV: a blank line is skipped where the file has several columns (as pandas does); where it has
// only one, it is a row with an empty cell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::data {

enum class TableFormat { kTsv, kCsv, kJsonl, kLines };

struct TableOptions {
  // One ASCII character. A comma or a semicolon makes a CSV of any file, and any character but a tab
  // one of a .csv; else the file is split plainly. Unset: by extension; .tsv and .txt are split at
  // tabs, .csv is CSV with commas, .jsonl and .json are JSONL.
  std::optional<std::string> delimiter = {};
  bool header = true;                      // first row holds the names; without, columns go by number
  std::optional<TableFormat> format = {};  // overrules extension and delimiter; kLines is only had this way
  std::string encoding = "utf-8";          // as iconv or Python names it
  std::string encoding_errors = "strict";  // "strict", "replace" (U+FFFD) or "ignore" (dropped)
};

// A column as the user names it: by name, or by its number from 1.
struct Column {
  std::string name;
  int number = 0;  // > 0: by number, and name is ignored

  bool operator==(const Column&) const = default;
  static Column named(std::string name) { return {std::move(name), 0}; }
  static Column numbered(int number) { return {{}, number}; }
  std::string text() const {
    return number > 0 ? "column " + std::to_string(number) : "column '" + name + "'";
  }
};

struct TableRow {
  std::int64_t line = 0;                // where the row starts
  std::vector<std::string_view> cells;  // in the order of the wanted columns; valid until next()
};

class TableReader {
 public:
  virtual ~TableReader() = default;
  // False at the end of the file. Error where the row lacks a wanted column or is malformed.
  virtual bool next(TableRow& row) = 0;
};

// Opens `file` for the wanted columns; an unknown column is an Error that lists those there are.
// JSONL has no header: there a missing key is found row by row. "/dev/stdin" is a file too.
std::unique_ptr<TableReader> open_table(const std::filesystem::path& file, std::vector<Column> wanted,
                                        const TableOptions& options);

// The columns of a file: names of the header, keys of the first JSONL object; without a header the
// numbers "1", "2", ... of the first row. Empty for an empty file.
std::vector<std::string> table_columns(const std::filesystem::path& file, const TableOptions& options);

// What open_table will take the file for; Error if neither options nor extension tell.
TableFormat table_format(const std::filesystem::path& file, const TableOptions& options);

}  // namespace shoal::data
