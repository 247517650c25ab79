// The first pass over a fleet file: which sections there are, and that every key in them is known.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/job_block.h"
#include "engine/config/problems.h"
#include "engine/config/value.h"

namespace shoal::engine::config {

struct Sections {
  Table fleet;
  Table defaults;
  std::optional<Use> use;                // of [defaults]
  std::map<std::string, Table> presets;  // keys of jobs, by NAME of [preset.NAME]
  std::map<std::string, Table> trunks;   // keys of jobs, by name
  std::vector<JobBlock> jobs;
};

// Unknown and misplaced keys go to `problems` and are left out.
Sections read_sections(const Value& file, Problems& problems);

}  // namespace shoal::engine::config
