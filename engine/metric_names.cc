#include "engine/metric_names.h"

namespace shoal::engine {

std::vector<std::string> metric_names(std::int64_t n_labels) {
  std::vector<std::string> names = {"loss", "accuracy"};
  if (n_labels == 2) names.emplace_back("f1");
  names.insert(names.end(), {"f1_macro", "f1_micro", "f1_weighted", "matthews_correlation"});
  return names;
}

std::vector<std::string> regression_metric_names() {
  return {"loss", "pearson", "spearmanr", "combined_score", "mse", "mae"};
}

std::string_view without_eval(std::string_view name) {
  constexpr std::string_view kPrefix = "eval_";
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

bool is_regression(const JobSpec& job) {
  return job.problem_type == ProblemType::kRegression;
}

}  // namespace shoal::engine
