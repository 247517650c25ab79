// TSV: a line is a row, split at the delimiter, and nothing else has a meaning. A lone quote in a text
// swallows no rows; in return a text can hold neither a delimiter nor a line end.
#include <algorithm>

#include "data/table_readers.h"
#include "data/text_error.h"

namespace shoal::data {
namespace {

void split(std::string_view line, char delimiter, std::vector<std::string_view>& fields) {
  fields.clear();
  std::size_t begin = 0;
  for (std::size_t at; (at = line.find(delimiter, begin)) != std::string_view::npos; begin = at + 1) {
    fields.push_back(line.substr(begin, at - begin));
  }
  fields.push_back(line.substr(begin));
}

class TsvReader final : public TableReader {
 public:
  TsvReader(const std::filesystem::path& file, std::vector<Column> wanted, char delimiter, bool header,
            const TextEncoding& encoding)
      : lines_(file, encoding), wanted_(std::move(wanted)), delimiter_(delimiter) {
    held_ = next_line();
    if (!held_) return;
    names_.assign(fields_.begin(), fields_.end());
    if (!header) names_ = numbered_columns(fields_.size());
    places_ = find_columns(file, lines_.line_number(), wanted_, names_, header);
    held_ = !header;
  }

  bool next(TableRow& row) override {
    if (!held_ && !next_line()) return false;
    held_ = false;
    row.line = lines_.line_number();
    row.cells.resize(places_.size());
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] >= fields_.size()) {
        fail_short_row(lines_.file(), row.line, fields_.size(), wanted_[i], places_[i]);
      }
      row.cells[i] = fields_[places_[i]];
    }
    return true;
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  bool next_line() {
    std::string_view line;
    do {
      if (!lines_.next(line)) return false;
      line = without_return(line);
    } while (line.empty() && names_.size() != 1);
    split(line, delimiter_, fields_);
    return true;
  }

  LineReader lines_;
  std::vector<Column> wanted_;
  char delimiter_;
  bool held_ = false;  // fields_ holds a row that next() has not given out
  std::vector<std::string_view> fields_;
  std::vector<std::string> names_;
  std::vector<std::size_t> places_;
};

// A text is the whole line: nothing is split off, nothing is skipped.
class LinesReader final : public TableReader {
 public:
  LinesReader(const std::filesystem::path& file, const TextEncoding& encoding) : lines_(file, encoding) {}

  bool next(TableRow& row) override {
    std::string_view line;
    if (!lines_.next(line)) return false;
    row.line = lines_.line_number();
    row.cells.assign(1, without_return(line));
    return true;
  }

 private:
  LineReader lines_;
};

}  // namespace

std::unique_ptr<TableReader> open_tsv(const std::filesystem::path& file, std::vector<Column> wanted,
                                      char delimiter, bool header, const TextEncoding& encoding) {
  return std::make_unique<TsvReader>(file, std::move(wanted), delimiter, header, encoding);
}

std::vector<std::string> tsv_columns(const std::filesystem::path& file, char delimiter, bool header,
                                     const TextEncoding& encoding) {
  return TsvReader(file, {}, delimiter, header, encoding).names();
}

std::unique_ptr<TableReader> open_lines(const std::filesystem::path& file, std::vector<Column> wanted,
                                        const TextEncoding& encoding) {
  if (wanted.size() != 1) fail_at(file, 0, 0, "plain lines have one column, the text; more are asked for");
  return std::make_unique<LinesReader>(file, encoding);
}

}  // namespace shoal::data
