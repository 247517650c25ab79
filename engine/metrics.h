// Metrics of single-label classification, and which metric chooses the best model (those of a regression:
// engine/regression_metrics.h).
//
// Values are those of scikit-learn under the names of Hugging Face's evaluate, in this order:
//   loss                  mean of the row losses, summed in double in the order added
//   accuracy              share of rows predicted right
//   f1                    F1 of id 1; with exactly two labels only
//   f1_macro              unweighted mean of the classes' F1
//   f1_micro              F1 of the pooled counts; for single-label rows this is the accuracy
//   f1_weighted           mean of the classes' F1 weighted by their rows
//   matthews_correlation  Gorodkin's R_k, for two classes the usual MCC; 0 where undefined (one class only,
//                         in the labels or in the predictions)
// The averages run over the classes present among labels or predictions, as f1_score does by default; a
// class that is declared but never seen does not count. A ratio with zero below is 0: only f1 can meet it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/job_spec.h"
#include "engine/metric_names.h"
#include "engine/observer.h"

namespace shoal::engine {

// Counts per class, no confusion matrix: all metrics above need nothing more.
class ClassificationCounts {
 public:
  explicit ClassificationCounts(std::int64_t n_labels);

  void add(std::int64_t label, std::int64_t predicted, double loss);
  std::int64_t rows() const { return rows_; }
  Metrics metrics() const;  // of metric_names(n_labels), in its order; throws Error without rows

 private:
  struct Class {
    std::int64_t rows = 0;       // with this label
    std::int64_t predicted = 0;  // as this class
    std::int64_t right = 0;
  };
  std::vector<Class> classes_;
  std::int64_t rows_ = 0;
  double loss_ = 0;
};

// Names with and without "eval_" in front are the same metric.
std::optional<double> find_metric(const Metrics& metrics, std::string_view name);
bool greater_is_better(std::string_view name);

// Strictly better: ties keep the earlier. NaN is worse than everything and equal to itself.
bool is_better(double a, double b, bool greater);

// What load_best_model_at_end and the "best" columns go by.
struct BestMetric {
  std::string name;  // without "eval_"
  bool greater = false;
};
// Refuses, before training, a metric that is not measured of such a job (f1 with more than two labels, in
// words) and a greater_is_better that contradicts the metric. Without metric_for_best_model: loss.
BestMetric best_metric(const JobSpec& job, std::int64_t n_labels);

}  // namespace shoal::engine
