// shoal eval MODEL FILE: metrics of a fine-tuned model on a labelled file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/model_options.h"

namespace shoal::cli {
namespace {

struct EvalOptions {
  ModelOptions model;
  std::string folder;
  std::string label_column;
  bool json = false;
};

int evaluate(const EvalOptions& options) {
  engine::EvalRequest request = options.model.resolved();
  request.model = model_folder(options.folder);
  if (!options.label_column.empty()) request.data.columns.label = typed_column(options.label_column);
  const std::unique_ptr<Device> device = options.model.device();
  const engine::Metrics metrics = engine::evaluate_model(request, *device);
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : metrics) {
    if (options.json) {
      json[name] = value;
    } else {
      fmt::print("{:<22}{:.4f}\n", name, value);
    }
  }
  if (options.json) fmt::print("{}\n", json.dump());
  return kAllDone;
}

}  // namespace

void add_eval(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("eval", "Measure a fine-tuned model on a labelled file.");
  const auto options = std::make_shared<EvalOptions>();
  command
      ->add_option("MODEL", options->folder, "A fine-tuned model: its folder, or a hub id in the local cache")
      ->required();
  add_model_options(*command, options->model);
  command->add_option("FILE", options->model.request.file, "Rows with labels: .tsv, .csv, .jsonl")
      ->required();
  command->add_option("--label-column", options->label_column, "Column of the label (default: label)");
  command->add_flag("--json", options->json, "One JSON object instead of a list");
  command->callback([options, &run] { run = [options] { return evaluate(*options); }; });
}

}  // namespace shoal::cli
