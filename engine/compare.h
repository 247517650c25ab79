// Whether one of two models is better on the same rows, or only luckier.
//
// Accuracy of both; the 95 % interval of their difference by the paired bootstrap (Efron and Tibshirani, An
// Introduction to the Bootstrap, 1993: percentiles of resampled rows; rows are drawn by philox4x32_10(key =
// seed, c0 = row / 4, c1 = resample, c2 = 0, c3 = 0x424f4f54 "BOOT")); and McNemar's exact test
// (Psychometrika 12, 1947): of the rows that only one of them has right, is either's share more than a fair
// coin's would be.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace shoal::engine {

struct PredictionRows {
  std::vector<std::int64_t> row;  // line of the test file
  std::vector<std::string> label;
  std::vector<std::string> prediction;
};
// Of a predictions.tsv (engine/predictions_file.h). Error: not such a file, or one without labels.
PredictionRows read_predictions(const std::filesystem::path& file);

struct Comparison {
  std::int64_t rows = 0;
  double accuracy_a = 0, accuracy_b = 0;
  double low = 0, high = 0;             // of accuracy_b - accuracy_a
  std::int64_t only_a = 0, only_b = 0;  // rows that only one has right
  double mcnemar_p = 1;                 // two-sided; 1 where they never differ
};
// Error: they are not predictions of the same rows.
Comparison compare(const PredictionRows& a, const PredictionRows& b, std::int64_t resamples = 10'000,
                   std::uint64_t seed = 0);

// P of a result at least as uneven as `only_a` to `only_b` from a fair coin.
double mcnemar_exact(std::int64_t only_a, std::int64_t only_b);

}  // namespace shoal::engine
