// shoal predict MODEL FILE|-|--text "...": class probabilities of texts, a line a text.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/model_options.h"
#include "data/utf8.h"
#include "engine/config/typed_keys.h"
#include "kernels/base/error.h"

namespace shoal::cli {
namespace {

using engine::Predictions;

struct PredictOptions {
  ModelOptions model;
  std::string file;
  std::vector<std::string> texts, text_pairs;
  bool lines = false;
  bool json = false;
  std::int64_t top = 5;
};

void check_usage(const PredictOptions& options) {
  using engine::config::UsageError;
  if (options.file.empty() == options.texts.empty()) {
    throw UsageError("predict takes either a FILE (- is standard input) or --text");
  }
  if (!options.text_pairs.empty() && options.text_pairs.size() != options.texts.size()) {
    throw UsageError(fmt::format("--text-pair is given {} times, --text {} times; a pair needs both",
                                 options.text_pairs.size(), options.texts.size()));
  }
  if (options.lines && (!options.model.text_column.empty() || !options.model.text_pair_column.empty())) {
    throw UsageError("--lines takes whole lines, so it goes without columns");
  }
}

Predictions of_texts(const PredictOptions& options, engine::EvalRequest request, Device& device) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (std::size_t i = 0; i < options.texts.size(); ++i) {
    texts.emplace_back(options.texts[i], options.text_pairs.empty() ? "" : options.text_pairs[i]);
    for (const std::string& text : {texts.back().first, texts.back().second}) {
      require(data::first_invalid_utf8(text) == text.size(), "--text: not UTF-8");
    }
  }
  request.data.columns.text_pair.reset();
  if (!options.text_pairs.empty()) request.data.columns.text_pair = data::Column::named("text_pair");
  return engine::predict_texts(request, texts, device);
}

Predictions of_file(const PredictOptions& options, engine::EvalRequest request, Device& device) {
  const bool input = options.file == "-";
  request.file = input ? "/dev/stdin" : options.file;
  // Standard input has no extension to go by: without word of columns it is a text a line.
  const bool has_columns = !options.model.text_column.empty() || !options.model.delimiter.empty();
  if (options.lines || (input && !has_columns)) {
    request.data.table.format = data::TableFormat::kLines;
    request.data.columns.text = data::Column::numbered(1);
  }
  return engine::predict_file(request, device);
}

// Labels from the likeliest down.
std::vector<std::size_t> by_probability(const Predictions& predictions, const float* row) {
  std::vector<std::size_t> order(predictions.labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  return order;
}

void print_row(const Predictions& predictions, std::int64_t row, std::int64_t top) {
  const float* probabilities =
      predictions.probabilities.data() + row * static_cast<std::int64_t>(predictions.labels.size());
  std::string line;
  for (const std::size_t label : by_probability(predictions, probabilities)) {
    if (top-- == 0) break;
    line += fmt::format("{}{} {:.2f}", line.empty() ? "" : "   ", predictions.labels[label],
                        static_cast<double>(probabilities[label]));
  }
  fmt::print("{}\n", line);
}

void print_json(const Predictions& predictions, std::int64_t row) {
  const std::int64_t at = row * static_cast<std::int64_t>(predictions.labels.size());
  nlohmann::ordered_json logits = nlohmann::ordered_json::object(), probabilities = logits;
  for (std::size_t label = 0; label < predictions.labels.size(); ++label) {
    logits[predictions.labels[label]] = predictions.logits[static_cast<std::size_t>(at) + label];
    probabilities[predictions.labels[label]] =
        predictions.probabilities[static_cast<std::size_t>(at) + label];
  }
  const std::size_t best = by_probability(predictions, predictions.probabilities.data() + at).front();
  const nlohmann::ordered_json json = {
      {"label", predictions.labels[best]},
      {"score", predictions.probabilities[static_cast<std::size_t>(at) + best]},
      {"logits", logits},
      {"probabilities", probabilities}};
  fmt::print("{}\n", json.dump());
}

int predict(const PredictOptions& options) {
  check_usage(options);
  const engine::EvalRequest request = options.model.resolved();
  const std::unique_ptr<Device> device = options.model.device();
  const Predictions predictions =
      options.texts.empty() ? of_file(options, request, *device) : of_texts(options, request, *device);
  for (std::int64_t row = 0; row < predictions.rows; ++row) {
    options.json ? print_json(predictions, row) : print_row(predictions, row, options.top);
  }
  return kAllDone;
}

}  // namespace

void add_predict(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("predict", "Class probabilities of texts by a fine-tuned model.");
  const auto options = std::make_shared<PredictOptions>();
  add_model_options(*command, options->model);
  command->add_option("FILE", options->file, "Texts: .tsv, .csv, .jsonl; - is standard input, a text a line");
  command->add_option("--text", options->texts, "A text typed here")->allow_extra_args(false);
  command->add_option("--text-pair", options->text_pairs, "The second text of the pair")
      ->allow_extra_args(false);
  command->add_flag("--lines", options->lines, "Each line of FILE is a text, whatever its extension");
  command->add_flag("--json", options->json, "A JSON object a line, with all logits and probabilities");
  command->add_option("--top", options->top, "Labels shown a line")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->callback([options, &run] { run = [options] { return predict(*options); }; });
}

}  // namespace shoal::cli
