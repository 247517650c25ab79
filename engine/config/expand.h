// From [[job]] blocks to single jobs: every point of a block's sweep, with defaults and command line laid
// over in their order of force: defaults < job < sweep value < --set.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/config/problems.h"
#include "engine/config/sections.h"
#include "engine/config/typed_keys.h"

namespace shoal::engine::config {

struct RawJob {
  Place place;                          // of its [[job]]
  std::map<std::string, Value> values;  // by key; texts may still hold templates
  std::vector<std::string> swept;       // keys that the block's sweep varies
  std::int64_t trial = 0;               // its number in the block's expansion, from 0
};

// In file order, the last swept key varying fastest. `typed`: those of scope kAllJobs are laid over.
std::vector<RawJob> expand(const Sections& sections, std::span<const TypedKey> typed, Problems& problems);

}  // namespace shoal::engine::config
