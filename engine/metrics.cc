#include "engine/metrics.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

// 2 right / (rows + predicted) is 2 TP / (2 TP + FP + FN).
double f1_of(std::int64_t right, std::int64_t rows, std::int64_t predicted) {
  return rows + predicted == 0 ? 0 : 2.0 * static_cast<double>(right) / static_cast<double>(rows + predicted);
}

}  // namespace

ClassificationCounts::ClassificationCounts(std::int64_t n_labels) {
  SHOAL_CHECK(n_labels >= 1);
  classes_.resize(static_cast<std::size_t>(n_labels));
}

void ClassificationCounts::add(std::int64_t label, std::int64_t predicted, double loss) {
  const auto n_labels = static_cast<std::int64_t>(classes_.size());
  SHOAL_CHECK(label >= 0 && label < n_labels && predicted >= 0 && predicted < n_labels);
  ++classes_[static_cast<std::size_t>(label)].rows;
  ++classes_[static_cast<std::size_t>(predicted)].predicted;
  if (label == predicted) ++classes_[static_cast<std::size_t>(label)].right;
  ++rows_;
  loss_ += loss;
}

Metrics ClassificationCounts::metrics() const {
  require(rows_ > 0, "evaluation: there are no rows to measure");
  const double n = static_cast<double>(rows_);
  double right = 0, present = 0, f1_sum = 0, f1_weighted = 0;
  double label_prediction = 0, label_label = 0, prediction_prediction = 0;  // sums of products of counts
  for (const Class& c : classes_) {
    const double f1 = f1_of(c.right, c.rows, c.predicted);
    const double labelled = static_cast<double>(c.rows), predicted = static_cast<double>(c.predicted);
    right += static_cast<double>(c.right);
    present += c.rows + c.predicted > 0 ? 1 : 0;
    f1_sum += f1;
    f1_weighted += f1 * labelled;
    label_prediction += labelled * predicted;
    label_label += labelled * labelled;
    prediction_prediction += predicted * predicted;
  }
  const double variances = (n * n - prediction_prediction) * (n * n - label_label);
  const double correlation = variances == 0 ? 0 : (right * n - label_prediction) / std::sqrt(variances);

  Metrics metrics = {{"loss", loss_ / n}, {"accuracy", right / n}};
  if (classes_.size() == 2) {
    const Class& positive = classes_[1];
    metrics.emplace_back("f1", f1_of(positive.right, positive.rows, positive.predicted));
  }
  metrics.emplace_back("f1_macro", f1_sum / present);
  metrics.emplace_back("f1_micro", right / n);
  metrics.emplace_back("f1_weighted", f1_weighted / n);
  metrics.emplace_back("matthews_correlation", correlation);
  return metrics;
}

std::optional<double> find_metric(const Metrics& metrics, std::string_view name) {
  for (const auto& [known, value] : metrics) {
    if (known == without_eval(name)) return value;
  }
  return std::nullopt;
}

bool greater_is_better(std::string_view name) {
  const std::string_view bare = without_eval(name);
  return bare != "loss" && bare != "mse" && bare != "mae";
}

bool is_better(double a, double b, bool greater) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  return greater ? a > b : a < b;
}

BestMetric best_metric(const JobSpec& job, std::int64_t n_labels) {
  const std::string& asked = job.metric_for_best_model;
  const std::string name{asked.empty() ? "loss" : without_eval(asked)};
  const std::vector<std::string> names =
      is_regression(job) ? regression_metric_names() : metric_names(n_labels);
  if (std::ranges::find(names, name) == names.end()) {
    const std::string_view why =
        name == "f1" && !is_regression(job)
            ? "needs exactly two labels; more are averaged by f1_macro, f1_micro or f1_weighted"
            : "is not measured";
    const std::string what =
        is_regression(job) ? "a regression" : fmt::format("the data has {} labels", n_labels);
    fail("{}: error: job {}: metric_for_best_model = \"{}\" {} ({}); allowed: {}", job.where, job.name, asked,
         why, what, fmt::join(names, ", "));
  }
  const bool greater = greater_is_better(name);
  require(job.greater_is_better.value_or(greater) == greater,
          "{}: error: job {}: greater_is_better = {} contradicts metric_for_best_model = \"{}\"; allowed: {}",
          job.where, job.name, !greater, name, greater);
  return {name, greater};
}

}  // namespace shoal::engine
