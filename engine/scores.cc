#include "engine/scores.h"

#include <algorithm>
#include <cmath>

namespace shoal::engine {

std::int64_t argmax(const float* logits, std::int64_t n) {
  return std::max_element(logits, logits + n) - logits;
}

void append_softmax(const float* logits, std::int64_t n, std::vector<float>& to) {
  const float most = *std::max_element(logits, logits + n);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(logits[i] - most));
  for (std::int64_t i = 0; i < n; ++i)
    to.push_back(static_cast<float>(std::exp(static_cast<double>(logits[i] - most)) / sum));
}

Scores::Scores(std::int64_t n_labels, bool is_regression) : n_labels_(n_labels) {
  if (!is_regression) counts_.emplace(n_labels);
}

void Scores::add(const data::Dataset& dataset, std::int64_t row, const float* logits, float loss) {
  const auto at = static_cast<std::size_t>(row);
  if (counts_) {
    counts_->add(dataset.label[at], argmax(logits, n_labels_), static_cast<double>(loss));
  } else {
    values_.add(dataset.target[at], logits[0], static_cast<double>(loss));
  }
}

Metrics Scores::metrics() const {
  return counts_ ? counts_->metrics() : values_.metrics();
}

std::string Scores::note() const {
  if (counts_ || !values_.undefined()) return {};
  return "pearson and spearmanr are undefined (all predictions or all targets are the same): written as 0";
}

}  // namespace shoal::engine
