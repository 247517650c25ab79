#include "engine/config/value.h"

#include <fmt/format.h>

#include "data/text_error.h"

namespace shoal::engine::config {

std::string Place::text() const {
  std::string out = file.string();
  if (line > 0) out += fmt::format(":{}", line);
  if (line > 0 && column > 0) out += fmt::format(":{}", column);
  return out;
}

std::string Value::shown() const {
  switch (type) {
    case Type::kText:
      return data::in_quotes(written);
    case Type::kArray:
      return "a list";
    case Type::kTable:
      return "a table";
    default:
      return written;
  }
}

std::string Value::compact() const {
  if (type != Type::kTable) return type == Type::kArray ? shown() : written;
  std::string out;
  for (const Entry& entry : table) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", entry.key, entry.value.compact());
  }
  return out;
}

const Value* Value::find(std::string_view key) const {
  for (const Entry& entry : table) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Value text_value(const std::string& text, const Place& place) {
  Value value;
  value.type = Value::Type::kText;
  value.written = text;
  value.place = place;
  return value;
}

Value integer_value(std::int64_t number, const Place& place) {
  Value value;
  value.type = Value::Type::kInteger;
  value.written = fmt::format("{}", number);
  value.integer = number;
  value.real = static_cast<double>(number);
  value.place = place;
  return value;
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

}  // namespace shoal::engine::config
