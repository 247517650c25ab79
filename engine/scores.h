// What an evaluation measures, whatever the job's problem: rows go in one by one, metrics come out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "engine/metrics.h"
#include "engine/regression_metrics.h"

namespace shoal::engine {

class Scores {
 public:
  Scores(std::int64_t n_labels, bool is_regression);

  // logits: [n_labels] of a row of the data set that has a label.
  void add(const data::Dataset& dataset, std::int64_t row, const float* logits, float loss);
  Metrics metrics() const;
  // What the numbers alone do not tell: "" or one line.
  std::string note() const;

 private:
  std::int64_t n_labels_;
  std::optional<ClassificationCounts> counts_;
  RegressionValues values_;
};

// The class with the largest logit, the first of equals.
std::int64_t argmax(const float* logits, std::int64_t n);

// The probabilities of n logits, in double, rounded once.
void append_softmax(const float* logits, std::int64_t n, std::vector<float>& to);

}  // namespace shoal::engine
