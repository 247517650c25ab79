// The first pass over one [[job]]: its keys apart from what makes many jobs of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/problems.h"
#include "engine/config/value.h"

namespace shoal::engine::config {

// The names of `use`, with their places.
using Use = std::vector<Value>;

// One [[job]] as written: it becomes one job, or many.
struct JobBlock {
  Place place;
  Table keys;
  std::optional<Use> use;       // absent: that of [defaults]
  Table each;                   // key or variable -> a glob, a list, { csv }
  Table sweep;                  // key -> a list, or a distribution
  std::optional<Entry> search;  // how many points of the sweep are drawn
  std::optional<Value> trunk;   // name of a [[trunk]]
  std::optional<Value> head;    // of that trunk
};

// `job` is a table; what is wrong in it goes to `problems` and is left out.
JobBlock read_job_block(const Value& job, Problems& problems);

// Keys of jobs out of a table that is called `section` in messages ("[defaults]").
void read_job_keys(const Table& table, std::string_view section, Table& keys, Problems& problems);

// The names of a `use`; none where it is not a list of names.
std::optional<Use> read_use(const Value& value, Problems& problems);

// Takes the entry out of the table, if it is there.
std::optional<Entry> take(Table& table, std::string_view key);

// Why `key` cannot stand in `section`, which takes `names`.
std::string unknown_key(const std::string& key, std::span<const std::string> names, std::string_view section);

// The names of the file's sections.
const std::vector<std::string>& section_names();

}  // namespace shoal::engine::config
