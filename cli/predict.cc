// shoal predict MODEL... FILE|-|--text "...": what one or several models say of texts, a line a text.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/model_options.h"
#include "cli/prediction_lines.h"
#include "data/utf8.h"
#include "engine/config/typed_keys.h"
#include "kernels/base/error.h"

namespace shoal::cli {
namespace {

using engine::Predictions;
using engine::config::UsageError;

struct PredictOptions {
  ModelOptions model;
  std::vector<std::string> models_and_file;
  std::vector<std::string> texts, text_pairs;
  bool lines = false;
  bool json = false;
  bool average = false;
  std::int64_t top = 5;

  bool has_file() const { return texts.empty(); }
  // Without --text the last of the list is the file.
  std::span<const std::string> models() const {
    return std::span(models_and_file).first(models_and_file.size() - (has_file() ? 1 : 0));
  }
};

void check_usage(const PredictOptions& options) {
  if (options.models_and_file.empty()) throw UsageError("predict takes a MODEL, and a FILE or --text");
  if (options.models().empty()) {
    throw UsageError("predict takes, after the models, either a FILE (- is standard input) or --text");
  }
  if (!options.text_pairs.empty() && options.text_pairs.size() != options.texts.size()) {
    throw UsageError(fmt::format("--text-pair is given {} times, --text {} times; a pair needs both",
                                 options.text_pairs.size(), options.texts.size()));
  }
  if (options.lines && (!options.model.text_column.empty() || !options.model.text_pair_column.empty())) {
    throw UsageError("--lines takes whole lines, so it goes without columns");
  }
}

std::vector<Predictions> of_texts(const PredictOptions& options, engine::EvalRequest request,
                                  std::span<const std::filesystem::path> models, Device& device) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (std::size_t i = 0; i < options.texts.size(); ++i) {
    texts.emplace_back(options.texts[i], options.text_pairs.empty() ? "" : options.text_pairs[i]);
    for (const std::string& text : {texts.back().first, texts.back().second}) {
      require(data::first_invalid_utf8(text) == text.size(), "--text: not UTF-8");
    }
  }
  request.data.columns.text_pair.reset();
  if (!options.text_pairs.empty()) request.data.columns.text_pair = data::Column::named("text_pair");
  return engine::predict_models(request, models, texts, device);
}

std::vector<Predictions> of_file(const PredictOptions& options, engine::EvalRequest request,
                                 std::span<const std::filesystem::path> models, Device& device) {
  const std::string& file = options.models_and_file.back();
  const bool input = file == "-";
  request.file = input ? "/dev/stdin" : file;
  // Standard input has no extension to go by: without word of columns it is a text a line.
  const bool has_columns = !options.model.text_column.empty() || !options.model.delimiter.empty();
  if (options.lines || (input && !has_columns)) {
    request.data.table.format = data::TableFormat::kLines;
    request.data.columns.text = data::Column::numbered(1);
  }
  return engine::predict_models(request, models, device);
}

int predict(const PredictOptions& options) {
  check_usage(options);
  const engine::EvalRequest request = options.model.resolved();
  std::vector<std::filesystem::path> models;
  for (const std::string& typed : options.models()) models.push_back(model_folder(typed));
  const std::unique_ptr<Device> device = options.model.device();
  std::vector<Predictions> answers = options.has_file() ? of_file(options, request, models, *device)
                                                        : of_texts(options, request, models, *device);
  std::vector<std::string> names(options.models().begin(), options.models().end());
  if (options.average) {
    answers = {average(answers, names)};
    names = {"average"};
  }
  if (answers.size() > 1 && !options.json) fmt::print("{}\n", fmt::join(names, "\t"));
  for (std::int64_t row = 0; row < answers.front().rows; ++row) {
    fmt::print("{}\n", options.json ? json_line(answers, names, row) : text_line(answers, row, options.top));
  }
  return kAllDone;
}

}  // namespace

void add_predict(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("predict", "What fine-tuned models say of texts.");
  const auto options = std::make_shared<PredictOptions>();
  command->add_option(
      "MODEL... FILE", options->models_and_file,
      "One model or several (folders, or hub ids in the local cache), then the texts: .tsv, .csv, "
      ".jsonl; - is standard input, a text a line");
  add_model_options(*command, options->model);
  command->add_option("--text", options->texts, "A text typed here, instead of FILE")
      ->allow_extra_args(false);
  command->add_option("--text-pair", options->text_pairs, "The second text of the pair")
      ->allow_extra_args(false);
  command->add_flag("--average", options->average,
                    "One answer: the mean of the models' probabilities, or of their numbers");
  command->add_flag("--lines", options->lines, "Each line of FILE is a text, whatever its extension");
  command->add_flag("--json", options->json, "A JSON object a line, with all logits and probabilities");
  command->add_option("--top", options->top, "Labels shown a line")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->callback([options, &run] { run = [options] { return predict(*options); }; });
}

}  // namespace shoal::cli
