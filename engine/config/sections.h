// The first pass over a fleet file: which sections there are, and that every key in them is known.
#pragma once

#include <vector>

#include "engine/config/problems.h"
#include "engine/config/value.h"

namespace shoal::engine::config {

// One [[job]] as written: it becomes one job, or many.
struct JobBlock {
  Place place;
  Table keys;
  Table sweep;  // key -> list of values
};

struct Sections {
  Table fleet;
  Table defaults;
  std::vector<JobBlock> jobs;
};

// Unknown and misplaced keys go to `problems` and are left out.
Sections read_sections(const Value& file, Problems& problems);

}  // namespace shoal::engine::config
