// Metrics of a regression, as Hugging Face's GLUE script has them for STS-B, in this order:
//   loss            mean of the row losses, summed in double in the order added
//   pearson         correlation of predictions and targets
//   spearmanr       the same of their ranks; ties share the mean of their ranks
//   combined_score  mean of the two
//   mse, mae        mean squared and mean absolute error
// A correlation is undefined where one side is the same throughout (so with one row): then it is 0, and
// undefined() says so.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/observer.h"

namespace shoal::engine {

class RegressionValues {
 public:
  void add(float target, float predicted, double loss);
  Metrics metrics() const;  // throws Error without rows
  bool undefined() const;   // the correlations

 private:
  std::vector<double> targets_, predictions_;
  double loss_ = 0;
};

// 0 where undefined.
double pearson(std::span<const double> a, std::span<const double> b);
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace shoal::engine
