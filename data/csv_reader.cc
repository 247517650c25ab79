// CSV by RFC 4180, parsed by libcsv in its strict mode. The file is fed line by line, so that rows and
// errors know their physical lines. What the strict mode refuses are quotes that are not balanced, or
// stand inside a field that is not quoted: lenient readers then glue rows together without a word.
#include <csv.h>
#include <fmt/format.h>

#include "data/table_readers.h"
#include "data/text_error.h"
#include "data/utf8.h"
#include "kernels/base/error.h"

namespace shoal::data {
namespace {

// libcsv's parser, freed also where the constructor of its owner throws.
struct Parser : csv_parser {
  Parser() : csv_parser{} {
    if (csv_init(this, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL) != 0) fail("libcsv cannot be set up");
  }
  ~Parser() { csv_free(this); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
};

class CsvReader final : public TableReader {
 public:
  CsvReader(const std::filesystem::path& file, std::vector<Column> wanted, char delimiter, bool header,
            const TextEncoding& encoding)
      : lines_(file, encoding), wanted_(std::move(wanted)) {
    csv_set_delim(&parser_, static_cast<unsigned char>(delimiter));
    // Blanks belong to a field. Only the \r of a line end is taken off, by the name of a space.
    csv_set_space_func(&parser_, [](unsigned char c) { return c == '\r' ? 1 : 0; });
    csv_set_term_func(&parser_, [](unsigned char c) { return c == '\n' ? 1 : 0; });
    held_ = next_row();
    if (!held_) return;
    names_ = header ? row_.fields : numbered_columns(row_.fields.size());
    places_ = find_columns(file, row_.line, wanted_, names_, header);
    held_ = !header;
  }

  bool next(TableRow& row) override {
    if (!held_ && !next_row()) return false;
    held_ = false;
    row.line = row_.line;
    row.cells.resize(places_.size());
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] >= row_.fields.size()) {
        fail_short_row(lines_.file(), row.line, row_.fields.size(), wanted_[i], places_[i]);
      }
      row.cells[i] = row_.fields[places_[i]];
    }
    return true;
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Row {
    std::int64_t line = 0;
    std::vector<std::string> fields;
  };

  static void on_field(void* bytes, std::size_t size, void* self) {
    auto& reader = *static_cast<CsvReader*>(self);
    reader.open_.fields.emplace_back(static_cast<const char*>(bytes), size);
  }
  static void on_row(int, void* self) {
    auto& reader = *static_cast<CsvReader*>(self);
    reader.complete_ = true;
  }

  // Feeds lines until a row is complete; false at the end of the file.
  bool next_row() {
    while (true) {
      open_.line = lines_.line_number() + 1;
      open_.fields.clear();
      complete_ = false;
      while (!complete_) {
        std::string_view line;
        if (!lines_.next(line)) {
          if (open_.line > lines_.line_number()) return false;
          fail_at(lines_.file(), open_.line, 0, "the row has a quoted field that the file does not close");
        }
        feed(line);
      }
      if (open_.fields.empty()) {  // a blank line
        if (names_.size() != 1) continue;
        open_.fields.emplace_back();
      }
      std::swap(row_, open_);
      return true;
    }
  }

  void feed(std::string_view line) {
    const std::size_t done = csv_parse(&parser_, line.data(), line.size(), on_field, on_row, this);
    if (done == line.size() && csv_parse(&parser_, "\n", 1, on_field, on_row, this) == 1) return;
    if (csv_error(&parser_) != CSV_EPARSE)
      fail_at(lines_.file(), lines_.line_number(), 0, "libcsv is out of memory");
    const bool stray = done < line.size() && line[done] == '"';  // libcsv stops before what it refuses
    const std::string since =
        open_.line < lines_.line_number() ? fmt::format(" (the row starts on line {})", open_.line) : "";
    fail_at(
        lines_.file(), lines_.line_number(),
        static_cast<std::int64_t>(count_code_points(line.substr(0, done))) + 1,
        stray ? "a quote inside a field that is not quoted; wanted: the field in quotes, its quotes doubled" +
                    since
              : "text after the closing quote of a field; wanted: a delimiter, or the quote doubled" + since);
  }

  LineReader lines_;
  std::vector<Column> wanted_;
  Parser parser_;
  bool complete_ = false;
  bool held_ = false;  // row_ holds a row that next() has not given out
  Row open_, row_;
  std::vector<std::string> names_;
  std::vector<std::size_t> places_;
};

}  // namespace

std::unique_ptr<TableReader> open_csv(const std::filesystem::path& file, std::vector<Column> wanted,
                                      char delimiter, bool header, const TextEncoding& encoding) {
  return std::make_unique<CsvReader>(file, std::move(wanted), delimiter, header, encoding);
}

std::vector<std::string> csv_columns(const std::filesystem::path& file, char delimiter, bool header,
                                     const TextEncoding& encoding) {
  return CsvReader(file, {}, delimiter, header, encoding).names();
}

}  // namespace shoal::data
