#include "engine/compare.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "data/table.h"
#include "data/text_error.h"
#include "kernels/base/error.h"
#include "kernels/base/philox.h"

namespace shoal::engine {
namespace {

constexpr std::uint32_t kBootstrapStream = 0x424f4f54u;  // "BOOT"

// +1 where only b is right, -1 where only a is.
std::vector<std::int8_t> differences(const PredictionRows& a, const PredictionRows& b) {
  std::vector<std::int8_t> out;
  for (std::size_t i = 0; i < a.row.size(); ++i)
    out.push_back(
        static_cast<std::int8_t>((b.prediction[i] == b.label[i]) - (a.prediction[i] == a.label[i])));
  return out;
}

// The sum of as many differences as there are, drawn with replacement.
std::int64_t resampled_sum(std::span<const std::int8_t> difference, std::uint64_t seed,
                           std::uint32_t resample) {
  const std::uint64_t n = difference.size();
  std::int64_t sum = 0;
  for (std::uint64_t i = 0; i < n; i += 4) {
    const Philox4 draw =
        philox4x32_10(seed, static_cast<std::uint32_t>(i / 4), resample, 0, kBootstrapStream);
    for (std::uint64_t k = 0; k < std::min<std::uint64_t>(4, n - i); ++k)
      sum += difference[static_cast<std::size_t>(std::uint64_t{draw.v[k]} * n >> 32)];
  }
  return sum;
}

double log_choose(std::int64_t n, std::int64_t k) {
  const auto log_factorial = [](std::int64_t x) { return std::lgamma(static_cast<double>(x) + 1); };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

}  // namespace

PredictionRows read_predictions(const std::filesystem::path& file) {
  const std::vector<std::string> columns = data::table_columns(file, {});
  const bool known = columns.size() >= 2 && columns[0] == "row";
  if (!known || columns[1] != "label" || columns.size() < 3 || columns[2] != "prediction") {
    data::fail_at(file, 1, 0,
                  known ? "there are no labels to compare by: the test file has none"
                        : "not a predictions.tsv: its columns are row, label, prediction, ...");
  }
  if (columns.size() == 3) data::fail_at(file, 1, 0, "numbers of a regression; classes are compared");
  std::vector<data::Column> wanted;  // all of them, so that a row that is cut off shows
  for (std::size_t i = 1; i <= columns.size(); ++i)
    wanted.push_back(data::Column::numbered(static_cast<int>(i)));
  const auto reader = data::open_table(file, wanted, {});
  PredictionRows rows;
  for (data::TableRow line; reader->next(line);) {
    std::int64_t row = 0;
    const char* const end = line.cells[0].data() + line.cells[0].size();
    const auto [stop, error] = std::from_chars(line.cells[0].data(), end, row);
    if (error != std::errc() || stop != end) data::fail_at(file, line.line, 0, "not a row of predictions");
    rows.row.push_back(row);
    rows.label.emplace_back(line.cells[1]);
    rows.prediction.emplace_back(line.cells[2]);
  }
  require(!rows.row.empty(), "{}: error: no row", file.string());
  return rows;
}

double mcnemar_exact(std::int64_t only_a, std::int64_t only_b) {
  const std::int64_t n = only_a + only_b, few = std::min(only_a, only_b);
  if (only_a == only_b) return 1;
  double tail = 0;
  for (std::int64_t k = 0; k <= few; ++k)
    tail += std::exp(log_choose(n, k) - static_cast<double>(n) * std::log(2.0));
  return std::min(1.0, 2 * tail);
}

Comparison compare(const PredictionRows& a, const PredictionRows& b, std::int64_t resamples,
                   std::uint64_t seed) {
  require(a.row == b.row && a.label == b.label,
          "the two were not asked about the same rows ({} and {}): their test files differ", a.row.size(),
          b.row.size());
  const std::vector<std::int8_t> difference = differences(a, b);
  Comparison result{.rows = static_cast<std::int64_t>(a.row.size())};
  const auto n = static_cast<double>(result.rows);
  for (std::size_t i = 0; i < a.row.size(); ++i) {
    result.accuracy_a += (a.prediction[i] == a.label[i]) / n;
    result.accuracy_b += (b.prediction[i] == b.label[i]) / n;
    result.only_a += difference[i] < 0;
    result.only_b += difference[i] > 0;
  }
  std::vector<std::int64_t> sums;
  for (std::int64_t i = 0; i < resamples; ++i)
    sums.push_back(resampled_sum(difference, seed, static_cast<std::uint32_t>(i)));
  std::ranges::sort(sums);
  const auto percentile = [&](double q) {
    return static_cast<double>(
               sums[static_cast<std::size_t>(q * static_cast<double>(sums.size() - 1) + 0.5)]) /
           n;
  };
  result.low = percentile(0.025);
  result.high = percentile(0.975);
  result.mcnemar_p = mcnemar_exact(result.only_a, result.only_b);
  return result;
}

}  // namespace shoal::engine
