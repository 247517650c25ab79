#include "cli/prediction_lines.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "kernels/base/error.h"

namespace shoal::cli {
namespace {

using engine::Predictions;
using Json = nlohmann::ordered_json;

std::span<const float> row_of(const std::vector<float>& values, const Predictions& of, std::int64_t row) {
  const std::size_t n = of.labels.size();
  return std::span(values).subspan(static_cast<std::size_t>(row) * n, n);
}

// Labels from the likeliest down.
std::vector<std::size_t> by_probability(std::span<const float> row) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  return order;
}

std::string answer(const Predictions& model, std::int64_t row, std::int64_t top) {
  if (model.is_regression())
    return fmt::format("{:.4f}", static_cast<double>(row_of(model.logits, model, row)[0]));
  const std::span<const float> probabilities = row_of(model.probabilities, model, row);
  std::string line;
  for (const std::size_t label : by_probability(probabilities)) {
    if (top-- == 0) break;
    line += fmt::format("{}{} {:.2f}", line.empty() ? "" : "   ", model.labels[label],
                        static_cast<double>(probabilities[label]));
  }
  return line;
}

Json json_answer(const Predictions& model, std::int64_t row) {
  const std::span<const float> logits = row_of(model.logits, model, row);
  if (model.is_regression()) return {{"value", logits[0]}};
  const std::span<const float> probabilities = row_of(model.probabilities, model, row);
  Json logits_by_label = Json::object(), probabilities_by_label = Json::object();
  for (std::size_t label = 0; label < model.labels.size(); ++label) {
    logits_by_label[model.labels[label]] = logits[label];
    probabilities_by_label[model.labels[label]] = probabilities[label];
  }
  const std::size_t best = by_probability(probabilities).front();
  return {{"label", model.labels[best]},
          {"score", probabilities[best]},
          {"logits", logits_by_label},
          {"probabilities", probabilities_by_label}};
}

// Where each label of `first` stands among those of `other`.
std::vector<std::size_t> places(const Predictions& first, const std::string& first_name,
                                const Predictions& other, const std::string& other_name) {
  require(first.is_regression() == other.is_regression() && first.labels.size() == other.labels.size(),
          "--average: {} and {} do not answer the same question ({} and {} labels)", first_name, other_name,
          first.labels.size(), other.labels.size());
  std::vector<std::size_t> found;
  for (const std::string& label : first.labels) {
    const auto at = std::ranges::find(other.labels, label);
    require(first.is_regression() || at != other.labels.end(), "--average: {} has the label '{}', {} has not",
            first_name, label, other_name);
    found.push_back(first.is_regression() ? 0 : static_cast<std::size_t>(at - other.labels.begin()));
  }
  return found;
}

}  // namespace

std::string text_line(std::span<const Predictions> models, std::int64_t row, std::int64_t top) {
  std::string line;
  for (const Predictions& model : models) line += (line.empty() ? "" : "\t") + answer(model, row, top);
  return line;
}

std::string json_line(std::span<const Predictions> models, std::span<const std::string> names,
                      std::int64_t row) {
  if (models.size() == 1) return json_answer(models[0], row).dump();
  Json by_name = Json::object();
  for (std::size_t i = 0; i < models.size(); ++i) by_name[names[i]] = json_answer(models[i], row);
  return Json{{"models", by_name}}.dump();
}

Predictions average(std::span<const Predictions> models, std::span<const std::string> names) {
  const Predictions& first = models[0];
  const bool regression = first.is_regression();
  const std::size_t n = first.labels.size(), rows = static_cast<std::size_t>(first.rows);
  std::vector<double> sum(rows * n);
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::vector<std::size_t> at = places(first, names[0], models[i], names[i]);
    const std::vector<float>& values = regression ? models[i].logits : models[i].probabilities;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t label = 0; label < n; ++label)
        sum[row * n + label] += static_cast<double>(values[row * n + at[label]]);
  }
  Predictions mean{.labels = first.labels, .logits = {}, .probabilities = {}, .rows = first.rows};
  for (const double value : sum) {
    const double share = value / static_cast<double>(models.size());
    mean.logits.push_back(static_cast<float>(regression ? share : std::log(share)));
    if (!regression) mean.probabilities.push_back(static_cast<float>(share));
  }
  return mean;
}

}  // namespace shoal::cli
