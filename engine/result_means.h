// The rows of results.csv that sum up: mean and standard deviation over seeds and folds
// (engine/run_report.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/job_spec.h"

namespace shoal::engine {

// A row of the table by column; what is missing is empty.
using Cells = std::map<std::string, std::string>;

// rows: of the jobs first, one each. variables, numbers: columns.
void append_means(const std::vector<JobSpec>& jobs, const std::vector<std::string>& variables,
                  const std::vector<std::string>& numbers, std::vector<Cells>& rows);

}  // namespace shoal::engine
