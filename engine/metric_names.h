// What an evaluation is measured by, by name. Apart from the measuring (metrics.h, regression_metrics.h), so
// that the fleet file can refuse a name without it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/job_spec.h"

namespace shoal::engine {

// Of a classification into n_labels, in printing order. Two labels have them all.
std::vector<std::string> metric_names(std::int64_t n_labels);
std::vector<std::string> regression_metric_names();

// Trainer puts "eval_" in front; it is the same metric.
std::string_view without_eval(std::string_view name);

bool is_regression(const JobSpec& job);

}  // namespace shoal::engine
