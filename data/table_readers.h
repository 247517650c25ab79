// The readers behind open_table, one file each, and how their columns are found.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/line_reader.h"
#include "data/table.h"

namespace shoal::data {

std::unique_ptr<TableReader> open_tsv(const std::filesystem::path& file, std::vector<Column> wanted,
                                      char delimiter, bool header, const TextEncoding& encoding);
std::unique_ptr<TableReader> open_csv(const std::filesystem::path& file, std::vector<Column> wanted,
                                      char delimiter, bool header, const TextEncoding& encoding);
std::unique_ptr<TableReader> open_jsonl(const std::filesystem::path& file, std::vector<Column> wanted,
                                        const TextEncoding& encoding);
std::unique_ptr<TableReader> open_lines(const std::filesystem::path& file, std::vector<Column> wanted,
                                        const TextEncoding& encoding);

std::vector<std::string> tsv_columns(const std::filesystem::path& file, char delimiter, bool header,
                                     const TextEncoding& encoding);
std::vector<std::string> csv_columns(const std::filesystem::path& file, char delimiter, bool header,
                                     const TextEncoding& encoding);
std::vector<std::string> jsonl_columns(const std::filesystem::path& file, const TextEncoding& encoding);

std::string lower_extension(const std::filesystem::path& file);  // ".TSV" is ".tsv"

// "1", "2", ... "count": what columns are called where no header names them.
std::vector<std::string> numbered_columns(std::size_t count);

// Places (from 0) of the wanted columns among the fields of a delimited file, whose first row stands on
// `line`. `names` are its fields; they are the names of the columns if `header`. Error if one is unknown.
std::vector<std::size_t> find_columns(const std::filesystem::path& file, std::int64_t line,
                                      std::span<const Column> wanted, std::span<const std::string> names,
                                      bool header);

// Refuses a row that ends before a wanted column.
[[noreturn]] void fail_short_row(const std::filesystem::path& file, std::int64_t line, std::size_t fields,
                                 const Column& column, std::size_t place);

}  // namespace shoal::data
