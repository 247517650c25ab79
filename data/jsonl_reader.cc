// JSONL: a JSON object a line; blank lines are skipped but counted.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "data/json_file.h"
#include "data/table_readers.h"
#include "data/text_error.h"

namespace shoal::data {
namespace {

using nlohmann::json;

class JsonlReader final : public TableReader {
 public:
  JsonlReader(const std::filesystem::path& file, std::vector<Column> wanted, const TextEncoding& encoding)
      : lines_(file, encoding), wanted_(std::move(wanted)), texts_(wanted_.size()) {
    for (const Column& column : wanted_) {
      if (column.number > 0) {
        fail_at(file, 0, 0,
                "JSONL has no " + column.text() + ": its columns go by name" +
                    allowed_and_nearest("", jsonl_columns(file, encoding)));
      }
    }
  }

  bool next(TableRow& row) override {
    if (!next_object()) return false;
    row.line = lines_.line_number();
    row.cells.resize(wanted_.size());
    for (std::size_t i = 0; i < wanted_.size(); ++i) row.cells[i] = cell(wanted_[i], texts_[i]);
    return true;
  }

  std::vector<std::string> keys() {
    std::vector<std::string> names;
    if (next_object()) {
      for (const auto& [key, value] : object_.items()) names.push_back(key);
    }
    return names;
  }

 private:
  bool next_object() {
    std::string_view line;
    do {
      if (!lines_.next(line)) return false;
    } while (line.find_first_not_of(" \t\r") == std::string_view::npos);
    object_ = parse_json(without_return(line), lines_.file(), lines_.line_number());
    if (!object_.is_object()) {
      fail_at(lines_.file(), lines_.line_number(), 0,
              fmt::format("the line is {} {}; wanted: a JSON object a line", object_.is_array() ? "an" : "a",
                          object_.type_name()));
    }
    return true;
  }

  // A string as it is; numbers and booleans as JSON writes them, in `text`.
  std::string_view cell(const Column& column, std::string& text) const {
    const auto found = object_.find(column.name);
    if (found == object_.end()) {
      std::vector<std::string> names;
      for (const auto& [key, value] : object_.items()) names.push_back(key);
      fail_at(lines_.file(), lines_.line_number(), 0,
              "the row has no " + column.text() + allowed_and_nearest(column.name, names));
    }
    if (found->is_string()) return found->get_ref<const std::string&>();
    if (!found->is_number() && !found->is_boolean()) {
      fail_at(lines_.file(), lines_.line_number(), 0,
              column.text() + " is " + found->type_name() + "; allowed: a string, a number, true, false");
    }
    text = found->dump();
    return text;
  }

  LineReader lines_;
  std::vector<Column> wanted_;
  std::vector<std::string> texts_;
  json object_;
};

}  // namespace

std::unique_ptr<TableReader> open_jsonl(const std::filesystem::path& file, std::vector<Column> wanted,
                                        const TextEncoding& encoding) {
  return std::make_unique<JsonlReader>(file, std::move(wanted), encoding);
}

std::vector<std::string> jsonl_columns(const std::filesystem::path& file, const TextEncoding& encoding) {
  return JsonlReader(file, {}, encoding).keys();
}

}  // namespace shoal::data
