#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <set>

#include "data/table.h"
#include "data/text_error.h"
#include "engine/config/axes.h"
#include "engine/config/keys.h"

namespace shoal::engine::config {
namespace {

constexpr std::string_view kForms =
    "a list of values, a glob with one * such as \"customers/*\", or { csv = \"FILE\" }";

// Text that glob(3) is to take as it is.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// What * stood for in the paths that match `before` * `after`, sorted by bytes.
std::vector<std::string> glob_matches(const std::string& before, const std::string& after) {
  ::glob_t found{};
  std::vector<std::string> matches;
  if (::glob((escaped(before) + "*" + escaped(after)).c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      const std::string path = found.gl_pathv[i];
      matches.push_back(path.substr(before.size(), path.size() - before.size() - after.size()));
    }
  }
  ::globfree(&found);
  std::ranges::sort(matches);
  return matches;
}

Axis glob_axis(const Entry& entry, const Context& context) {
  const std::string& pattern = entry.value.written;
  const std::size_t star = pattern.find('*');
  require(star != std::string::npos && pattern.find('*', star + 1) == std::string::npos,
          "each.{} is {}; allowed: {}", entry.key, entry.value.shown(), kForms);
  const std::string base = pattern.front() == '/' || context.base.empty() ? "" : context.base.string() + "/";
  Axis axis{entry.key, {}};
  for (const std::string& match : glob_matches(base + pattern.substr(0, star), pattern.substr(star + 1))) {
    axis.points.push_back({{entry.key, entry.place, data_value(match, entry.value.place)}});
  }
  require(!axis.points.empty(), "each.{}: nothing matches {}, so there would be no job", entry.key,
          entry.value.shown());
  return axis;
}

Axis list_axis(const Entry& entry) {
  require(!entry.value.items.empty(), "each.{} is an empty list, so there would be no job", entry.key);
  Axis axis{entry.key, {}};
  for (const Value& item : entry.value.items) axis.points.push_back({{entry.key, entry.place, item}});
  return axis;
}

// A row sets all columns; a cell that is empty leaves its key as it is elsewhere.
Table csv_point(const data::TableRow& row, const std::vector<std::string>& columns,
                const std::filesystem::path& file) {
  Table point;
  const Place place{file, row.line, 0};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string cell(row.cells[i]);
    if (cell.empty() && find_job_key(columns[i])) continue;
    point.push_back({columns[i], place, data_value(cell, place)});
  }
  return point;
}

Axis csv_axis(const Entry& entry, const Context& context) {
  const Value* csv = entry.value.find("csv");
  require(csv && entry.value.table.size() == 1 && csv->type == Value::Type::kText && !csv->written.empty(),
          "each.{} is a table; allowed: {}", entry.key, kForms);
  const std::filesystem::path file = resolved_path(csv->written, context);
  std::error_code ignored;
  require(std::filesystem::is_regular_file(file, ignored), "each.{}: no file '{}'", entry.key, file.string());
  data::TableOptions options;
  if (file.extension() != ".tsv") options.format = data::TableFormat::kCsv;
  const std::vector<std::string> columns = data::table_columns(file, options);
  require(std::set<std::string>(columns.begin(), columns.end()).size() == columns.size(),
          "each.{}: '{}' has two columns of one name", entry.key, file.string());
  const bool has_own = std::ranges::find(columns, entry.key) != columns.end();
  Axis axis{has_own || columns.empty() ? entry.key : columns.front(), {}};
  std::vector<data::Column> wanted;
  for (const std::string& column : columns) wanted.push_back(data::Column::named(column));
  if (!columns.empty()) {
    const auto reader = data::open_table(file, wanted, options);
    for (data::TableRow row; axis.points.size() <= kMostJobs && reader->next(row);) {
      axis.points.push_back(csv_point(row, columns, file));
    }
  }
  require(!axis.points.empty(), "each.{}: '{}' has no row, so there would be no job", entry.key,
          file.string());
  return axis;
}

Axis each_axis(const Entry& entry, const Context& context) {
  require(entry.key != "trial" && entry.key != "fold" &&
              entry.key.find_first_of("{}:") == std::string::npos && !entry.key.empty(),
          "each cannot set {}; allowed: a key, or another name", data::in_quotes(entry.key));
  switch (entry.value.type) {
    case Value::Type::kText:
      return glob_axis(entry, context);
    case Value::Type::kArray:
      return list_axis(entry);
    case Value::Type::kTable:
      return csv_axis(entry, context);
    default:
      throw Error(fmt::format("each.{} is {}; allowed: {}", entry.key, entry.value.shown(), kForms));
  }
}

}  // namespace

std::vector<Axis> each_axes(const JobBlock& block, const Context& context, Problems& problems) {
  std::vector<Axis> axes;
  for (const Entry& entry : block.each) {
    try {
      axes.push_back(each_axis(entry, context));
    } catch (const Error& error) {
      problems.add(entry.value.place, error.what());
    }
  }
  return axes;
}

}  // namespace shoal::engine::config
