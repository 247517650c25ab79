#include "engine/config/job_block.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/text_error.h"
#include "engine/config/foreign_keys.h"
#include "engine/config/keys.h"

namespace shoal::engine::config {
namespace {

constexpr std::string_view kJobSection = "[[job]]";

// What makes many jobs of one [[job]], and so cannot be shared by several.
bool is_expansion(std::string_view key) {
  return key == "each" || key == "sweep" || key == "search";
}

// each and sweep: a table of names.
Table read_names(const Entry& entry, std::string_view form, Problems& problems) {
  if (entry.value.type == Value::Type::kTable) return entry.value.table;
  problems.add(entry.value.place, fmt::format("{} is {}; allowed: {}", entry.key, entry.value.shown(), form));
  return {};
}

std::optional<Value> read_text(const std::optional<Entry>& entry, Problems& problems) {
  if (!entry) return std::nullopt;
  if (entry->value.type == Value::Type::kText && !entry->value.written.empty()) return entry->value;
  problems.add(entry->value.place,
               fmt::format("{} is {}; allowed: a name", entry->key, entry->value.shown()));
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& section_names() {
  static const std::vector<std::string> names = {"fleet", "defaults", "preset", "trunk", "job"};
  return names;
}

std::optional<Entry> take(Table& table, std::string_view key) {
  const auto found = std::ranges::find(table, key, &Entry::key);
  if (found == table.end()) return std::nullopt;
  Entry entry = std::move(*found);
  table.erase(found);
  return entry;
}

std::string unknown_key(const std::string& key, std::span<const std::string> names,
                        std::string_view section) {
  if (const std::string_view answer = foreign_key_answer(key); !answer.empty()) {
    return fmt::format("{}: {}", key, answer);
  }
  return fmt::format("unknown key {} in {}", data::in_quotes(key), section) +
         data::allowed_and_nearest(key, names);
}

void read_job_keys(const Table& table, std::string_view section, Table& keys, Problems& problems) {
  std::vector<std::string> names = job_key_names();
  if (section == kJobSection) names.insert(names.end(), {"use", "each", "sweep", "search"});
  for (const Entry& entry : table) {
    if (find_job_key(entry.key)) {
      keys.push_back(entry);
    } else if (is_expansion(entry.key)) {
      problems.add(entry.place, fmt::format("{} in {}; it belongs in a [[job]]", entry.key, section));
    } else if (entry.key == "use") {
      problems.add(entry.place, fmt::format("use in {}; it belongs in [defaults] or a [[job]]", section));
    } else if (entry.key != "trunk" &&
               std::ranges::find(section_names(), entry.key) != section_names().end()) {
      problems.add(entry.place, fmt::format("{} is under {}: in TOML a key belongs to the section above it; "
                                            "move it above the first [section]",
                                            entry.key, section));
    } else if (find_fleet_key(entry.key)) {
      problems.add(entry.place, fmt::format("{} is a key of the whole fleet; move it to [fleet]", entry.key));
    } else {
      problems.add(entry.place, unknown_key(entry.key, names, section));
    }
  }
}

std::optional<Use> read_use(const Value& value, Problems& problems) {
  const auto is_text = [](const Value& item) { return item.type == Value::Type::kText; };
  if (value.type == Value::Type::kArray && std::ranges::all_of(value.items, is_text)) return value.items;
  problems.add(value.place, fmt::format("use is {}; allowed: a list of names such as [\"NAME\"] of sections "
                                        "[preset.NAME]",
                                        value.shown()));
  return std::nullopt;
}

JobBlock read_job_block(const Value& job, Problems& problems) {
  JobBlock block;
  block.place = job.place;
  Table keys = job.table;
  if (const auto use = take(keys, "use")) block.use = read_use(use->value, problems);
  if (const auto each = take(keys, "each")) {
    block.each = read_names(*each, "each.NAME = [ values ], a glob, or { csv = \"FILE\" }", problems);
  }
  if (const auto sweep = take(keys, "sweep")) {
    block.sweep = read_names(*sweep, "sweep.KEY = [ values ]", problems);
  }
  block.search = take(keys, "search");
  block.trunk = read_text(take(keys, "trunk"), problems);
  block.head = read_text(take(keys, "head"), problems);
  read_job_keys(keys, kJobSection, block.keys, problems);
  return block;
}

}  // namespace shoal::engine::config
