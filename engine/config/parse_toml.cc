// The only file that knows the TOML library: its nodes become Values.
#include <toml++/toml.h>

#include <algorithm>

#include "data/text_error.h"
#include "engine/config/value.h"
#include "kernels/base/error.h"

namespace shoal::engine::config {
namespace {

// Lines of the document, to read back how a number was written.
std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

class Converter {
 public:
  Converter(std::string_view text, const std::filesystem::path& file)
      : lines_(split_lines(text)), file_(file) {}

  Value convert(const toml::node& node) const {
    Value value;
    value.place = place(node.source());
    if (const auto* table = node.as_table()) {
      value.type = Value::Type::kTable;
      for (const auto& [key, child] : *table) {
        value.table.push_back({std::string(key.str()), place(key.source()), convert(child)});
      }
      // The library sorts by key; what the user meant is the order of the file.
      std::ranges::stable_sort(value.table, {}, &Entry::place);
    } else if (const auto* array = node.as_array()) {
      value.type = Value::Type::kArray;
      for (const toml::node& child : *array) value.items.push_back(convert(child));
    } else {
      convert_scalar(node, value);
    }
    return value;
  }

 private:
  Place place(const toml::source_region& source) const {
    return {file_, static_cast<std::int64_t>(source.begin.line),
            static_cast<std::int64_t>(source.begin.column)};
  }

  void convert_scalar(const toml::node& node, Value& value) const {
    value.written = written(value.place);
    if (const auto* text = node.as_string()) {
      value.type = Value::Type::kText;
      value.written = text->get();
    } else if (const auto* integer = node.as_integer()) {
      value.type = Value::Type::kInteger;
      value.integer = integer->get();
      value.real = static_cast<double>(value.integer);
    } else if (const auto* real = node.as_floating_point()) {
      value.type = Value::Type::kReal;
      value.real = real->get();
    } else if (const auto* boolean = node.as_boolean()) {
      value.type = Value::Type::kBool;
      value.boolean = boolean->get();
    }
  }

  // The literal that starts at a place: up to what ends a number, a bool or a date in TOML.
  std::string written(const Place& at) const {
    if (at.line < 1 || at.line > static_cast<std::int64_t>(lines_.size())) return {};
    std::string_view line = lines_[static_cast<std::size_t>(at.line - 1)];
    for (std::int64_t column = 1; column < at.column && !line.empty(); ++column) {
      do line.remove_prefix(1);
      while (!line.empty() && (static_cast<unsigned char>(line.front()) & 0xc0) == 0x80);
    }
    return std::string(line.substr(0, line.find_first_of(" \t\r,]}#")));
  }

  std::vector<std::string_view> lines_;
  const std::filesystem::path& file_;
};

}  // namespace

Value parse_toml(const std::string& text, const std::filesystem::path& file) {
  try {
    const toml::table table = toml::parse(std::string_view(text), file.string());
    return Converter(text, file).convert(table);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    data::fail_at(file, at.line, at.column, error.description());
  }
}

Value parse_typed_value(const std::string& text, const Place& place) {
  Value value;
  try {
    // A newline would let the text open a second key.
    if (text.find('\n') == std::string::npos)
      value = parse_toml("value = " + text, place.file).table.at(0).value;
  } catch (const Error&) {
    value = {};
  }
  if (value.type == Value::Type::kOther) {
    value = text_value(text, place);
  }
  value.place = place;
  return value;
}

Value data_value(const std::string& text, const Place& place) {
  Value value = parse_typed_value(text, place);
  // "7 # seven" or "[7]" is TOML, but in a cell it is a text.
  const bool is_scalar = value.is_number() || value.type == Value::Type::kBool;
  if (!is_scalar || value.written != text) value = text_value(text, place);
  value.is_data = true;
  return value;
}

}  // namespace shoal::engine::config
