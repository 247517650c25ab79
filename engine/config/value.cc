#include "engine/config/value.h"

#include <fmt/format.h>

#include "data/text_error.h"

namespace shoal::engine::config {

std::string Place::text() const {
  std::string out = file.string();
  if (line > 0) out += fmt::format(":{}:{}", line, column);
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

const Value* Value::find(std::string_view key) const {
  for (const Entry& entry : table) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
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

}  // namespace shoal::engine::config
