#include "data/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "data/table_readers.h"
#include "data/text_error.h"

namespace shoal::data {
namespace {

struct Form {
  TableFormat format;
  char delimiter;
};

// The delimiter as one character, 0 where none is given.
char delimiter_of(const std::filesystem::path& file, const TableOptions& options) {
  if (!options.delimiter) return 0;
  const std::string& text = *options.delimiter;
  if (text == "\\t") return '\t';
  const auto c = static_cast<unsigned char>(text.empty() ? 0 : text[0]);
  if (text.size() != 1 || c >= 0x80 || c == 0 || c == '"' || c == '\n' || c == '\r') {
    fail_at(file, 0, 0,
            "delimiter is " + in_quotes(text) +
                "; allowed: one ASCII character other than a quote or a line end");
  }
  return text[0];
}

Form form_of(const std::filesystem::path& file, const TableOptions& options) {
  const std::string extension = lower_extension(file);
  const char given = delimiter_of(file, options);
  if (options.format) {
    return {*options.format, given ? given : *options.format == TableFormat::kCsv ? ',' : '\t'};
  }
  if (extension == ".jsonl" || extension == ".json") {
    if (given) fail_at(file, 0, 0, "a delimiter is set, but " + extension + " has none");
    return {TableFormat::kJsonl, 0};
  }
  const bool csv = extension == ".csv";
  if (given) {
    const bool quoting = given == ',' || given == ';' || (csv && given != '\t');
    return {quoting ? TableFormat::kCsv : TableFormat::kTsv, given};
  }
  if (csv) return {TableFormat::kCsv, ','};
  if (extension == ".tsv" || extension == ".txt") return {TableFormat::kTsv, '\t'};
  fail_at(file, 0, 0,
          "the extension " + in_quotes(extension) +
              " does not tell the format; allowed: .tsv, .txt, .csv, .jsonl, .json, or a delimiter");
}

}  // namespace

std::string lower_extension(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return extension;
}

TableFormat table_format(const std::filesystem::path& file, const TableOptions& options) {
  return form_of(file, options).format;
}

std::unique_ptr<TableReader> open_table(const std::filesystem::path& file, std::vector<Column> wanted,
                                        const TableOptions& options) {
  const Form form = form_of(file, options);
  const TextEncoding encoding = {options.encoding, options.encoding_errors};
  switch (form.format) {
    case TableFormat::kTsv:
      return open_tsv(file, std::move(wanted), form.delimiter, options.header, encoding);
    case TableFormat::kCsv:
      return open_csv(file, std::move(wanted), form.delimiter, options.header, encoding);
    case TableFormat::kJsonl:
      return open_jsonl(file, std::move(wanted), encoding);
    case TableFormat::kLines:
      break;
  }
  return open_lines(file, std::move(wanted), encoding);
}

std::vector<std::string> table_columns(const std::filesystem::path& file, const TableOptions& options) {
  const Form form = form_of(file, options);
  const TextEncoding encoding = {options.encoding, options.encoding_errors};
  switch (form.format) {
    case TableFormat::kTsv:
      return tsv_columns(file, form.delimiter, options.header, encoding);
    case TableFormat::kCsv:
      return csv_columns(file, form.delimiter, options.header, encoding);
    case TableFormat::kJsonl:
      return jsonl_columns(file, encoding);
    case TableFormat::kLines:
      break;
  }
  return numbered_columns(1);
}

std::vector<std::string> numbered_columns(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(std::to_string(i));
  return names;
}

std::vector<std::size_t> find_columns(const std::filesystem::path& file, std::int64_t line,
                                      std::span<const Column> wanted, std::span<const std::string> names,
                                      bool header) {
  std::vector<std::size_t> places;
  for (const Column& column : wanted) {
    if (column.number > 0) {
      if (static_cast<std::size_t>(column.number) > names.size()) {
        fail_at(file, line, 0, fmt::format("no {}; the file has {}", column.text(), names.size()));
      }
      places.push_back(static_cast<std::size_t>(column.number) - 1);
      continue;
    }
    if (!header) {
      fail_at(file, 0, 0,
              fmt::format("no {}: without a header, columns go by number; allowed: 1 to {}", column.text(),
                          names.size()));
    }
    const auto found = std::ranges::find(names, column.name);
    if (found == names.end()) {
      fail_at(file, line, 0, "no " + column.text() + allowed_and_nearest(column.name, names));
    }
    if (std::ranges::count(names, column.name) > 1) {
      fail_at(file, line, 0, column.text() + " stands in the header twice; give its number instead");
    }
    places.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  return places;
}

void fail_short_row(const std::filesystem::path& file, std::int64_t line, std::size_t fields,
                    const Column& column, std::size_t place) {
  const std::string number = column.number > 0 ? "" : fmt::format(" (number {})", place + 1);
  fail_at(file, line, 0,
          fmt::format("the row has {} field{}, too few for {}{}", fields, fields == 1 ? "" : "s",
                      column.text(), number));
}

}  // namespace shoal::data
