// The dimensions along which one [[job]] becomes many: `each` and `sweep`.
//
// An axis is a list of points, and a point sets some names: keys of jobs, or variables for templates.
// The jobs of a block are the product of its axes, the last varying fastest; its folds come on top
// (folds.h). With `search` the sweep is one axis of so many drawn points instead of one axis a key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/config/binding.h"
#include "engine/config/job_block.h"
#include "engine/config/problems.h"

namespace shoal::engine::config {

constexpr std::size_t kMostJobs = 100'000;  // a slip such as three lists of a thousand is to be seen early

struct Axis {
  std::string label;  // the name in a template that tells its points apart
  std::vector<Table> points;
};

// each.X: a list of values of X; a glob, of which X is what * stood for, sorted; or { csv }, whose rows set
// the names of its columns. What cannot be read goes to `problems` and is left out.
std::vector<Axis> each_axes(const JobBlock& block, const Context& context, Problems& problems);

// sweep.X and search.
std::vector<Axis> sweep_axes(const JobBlock& block, Problems& problems);

}  // namespace shoal::engine::config
