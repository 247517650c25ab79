// From [[job]] blocks to single jobs: the product of a block's each, sweep and folds, with everything that
// sets a key laid over in its order of force: defaults < trunk < presets left to right < job < each, sweep
// and fold values < --set.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/config/binding.h"
#include "engine/config/problems.h"
#include "engine/config/sections.h"
#include "engine/config/typed_keys.h"

namespace shoal::engine::config {

struct RawJob {
  Place place;                             // of its [[job]]
  std::map<std::string, Value> values;     // by key; texts may still hold templates
  std::map<std::string, Value> variables;  // of each, by name: those that are no keys
  std::vector<std::string> varied;         // keys and variables that its block varies
  std::vector<std::string> labels;         // names in a template that tell its block's jobs apart
  std::int64_t trial = 0;                  // number of its point of the sweep, from 0
  bool is_drawn = false;                   // that point was drawn by a search
  std::optional<std::int64_t> fold = {};

  // The value of a key or variable; nullptr: it has none.
  const Value* find(const std::string& name) const;
};

// In file order, the last axis varying fastest. `typed`: those of scope kAllJobs are laid over.
std::vector<RawJob> expand(const Sections& sections, std::span<const TypedKey> typed, const Context& context,
                           Problems& problems);

}  // namespace shoal::engine::config
