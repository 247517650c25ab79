// shoal compare RUN A B: whether job B does better than job A on the test file of both.
#include "engine/compare.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "kernels/base/error.h"

namespace shoal::cli {
namespace {

struct CompareOptions {
  std::filesystem::path run;
  std::string a, b;
  std::int64_t resamples = 10'000;
  std::uint64_t seed = 0;
  bool json = false;
};

engine::PredictionRows predictions_of(const CompareOptions& options, const std::string& job) {
  const std::filesystem::path folder = options.run / job, file = folder / "predictions.tsv";
  require(std::filesystem::is_directory(folder), "{}: error: no such job in the run", folder.string());
  require(std::filesystem::exists(file), "{}: error: not there; a job with a test_file leaves it",
          file.string());
  return engine::read_predictions(file);
}

int compare(const CompareOptions& options) {
  const engine::Comparison c =
      engine::compare(predictions_of(options, options.a), predictions_of(options, options.b),
                      options.resamples, options.seed);
  const double difference = c.accuracy_b - c.accuracy_a;
  if (options.json) {
    const nlohmann::ordered_json json = {{"rows", c.rows},
                                         {"accuracy", {{options.a, c.accuracy_a}, {options.b, c.accuracy_b}}},
                                         {"difference", difference},
                                         {"interval_95", {c.low, c.high}},
                                         {"only_right", {{options.a, c.only_a}, {options.b, c.only_b}}},
                                         {"mcnemar_p", c.mcnemar_p}};
    fmt::print("{}\n", json.dump());
    return kAllDone;
  }
  fmt::print("{} rows; accuracy: {} {:.4f}, {} {:.4f}\n", c.rows, options.a, c.accuracy_a, options.b,
             c.accuracy_b);
  fmt::print("difference {:+.4f}, 95 % interval [{:+.4f}, {:+.4f}] (paired bootstrap, {} resamples)\n",
             difference, c.low, c.high, options.resamples);
  fmt::print("only {} is right in {} rows, only {} in {}: p = {:.4f} (McNemar, exact, two-sided)\n",
             options.a, c.only_a, options.b, c.only_b, c.mcnemar_p);
  fmt::print("{}\n", c.mcnemar_p < 0.05
                         ? "the difference is more than chance would make of equals in 19 runs of 20"
                         : "equals would differ as much by chance");
  return kAllDone;
}

}  // namespace

void add_compare(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("compare", "Whether one of two jobs is better on their test_file, or only luckier.");
  const auto options = std::make_shared<CompareOptions>();
  command->add_option("RUN", options->run, "Folder of the run")->required();
  command->add_option("A", options->a, "A job of the run that has a test_file")->required();
  command->add_option("B", options->b, "Another")->required();
  command->add_option("--resamples", options->resamples, "Of the bootstrap")
      ->check(CLI::Range(100, 10'000'000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of the bootstrap")->capture_default_str();
  command->add_flag("--json", options->json, "One JSON object");
  command->callback([options, &run] { run = [options] { return compare(*options); }; });
}

}  // namespace shoal::cli
