// A value of a fleet file: what TOML says, where it stands, and how it was written there.
//
// The rest of the fleet file code works on these, not on the TOML library's nodes, because it needs
// three things that those do not give: tables in file order (a sweep's last key varies fastest), the
// text of a number as the user wrote it ("1e-5" stays "1e-5" in a job's name), and the same form for a
// value that came from --set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal::engine::config {

struct Place {
  std::filesystem::path file;  // or "--set defaults.seed=1"
  std::int64_t line = 0;       // from 1; 0: none
  std::int64_t column = 0;     // in characters, from 1; 0: not known

  std::string text() const;  // "demo.toml:12:1"
  auto operator<=>(const Place&) const = default;
};

struct Value;

struct Entry;
using Table = std::vector<Entry>;  // in file order; no key twice

struct Value {
  enum class Type : std::uint8_t { kText, kInteger, kReal, kBool, kArray, kTable, kOther };

  Type type = Type::kOther;
  std::string written;  // of a number, bool or date: as in the file; of a text: the text itself
  std::int64_t integer = 0;
  double real = 0;  // of an integer too
  bool boolean = false;
  bool is_data = false;  // a file's name or a cell: its braces are braces, and "7" may be a text
  std::vector<Value> items;
  Table table;
  Place place;

  bool is_number() const { return type == Type::kInteger || type == Type::kReal; }
  // For messages: a text in quotes, a number as written, "a table", "a list".
  std::string shown() const;
  // For a job's variables: a text or number as written, a table as "key=value, key=value".
  std::string compact() const;
  // The value under `key` of a table, nullptr if there is none.
  const Value* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  Place place;  // of the key
  Value value;
};

// Parses a TOML document into its top table. Error with its place where it is not TOML.
Value parse_toml(const std::string& text, const std::filesystem::path& file);

// A value typed at the command line: TOML where it parses as a TOML value, else a text.
Value parse_typed_value(const std::string& text, const Place& place);

// What stands in a cell of a table or in a file's name: a number or a truth value where it is one in TOML,
// else the text itself.
Value data_value(const std::string& text, const Place& place);

// Values that the program makes.
Value text_value(const std::string& text, const Place& place);
Value integer_value(std::int64_t number, const Place& place);

// The text as it may stand in a comment of one line.
std::string one_line(std::string text);

// The text as a TOML string in double quotes.
std::string toml_string(std::string_view text);

}  // namespace shoal::engine::config
