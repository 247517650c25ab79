// shoal init DATA: looks at a table and writes a fleet file to begin with.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/format.h"
#include "data/sniff.h"
#include "engine/config/value.h"
#include "kernels/base/error.h"

namespace shoal::cli {
namespace {

using data::ColumnFacts;
using data::Sniffed;
using engine::config::one_line;
using engine::config::toml_string;

constexpr std::size_t kShownLabels = 12;

struct InitOptions {
  std::filesystem::path data, validation;
  std::string model = "bert-base-uncased";
  std::filesystem::path output;
};

std::string reference(const Sniffed& s, std::size_t column) {
  return s.format == data::TableFormat::kJsonl || s.table.header ? toml_string(s.columns[column].name)
                                                                 : fmt::format("{}", column + 1);
}

std::string share_of(std::int64_t count, std::int64_t rows) {
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(count) / static_cast<double>(rows));
}

void describe_columns(const Sniffed& s, std::string& out) {
  out += fmt::format("# {}; {}:\n", counted(s.rows, "row"),
                     counted(static_cast<std::int64_t>(s.columns.size()), "column"));
  for (const ColumnFacts& c : s.columns) {
    out += fmt::format("#   {:<16} mean {:.0f} characters, longest {}; {}{} distinct", one_line(c.name),
                       c.mean_characters, c.longest, c.many_values ? "more than " : "",
                       c.many_values ? data::kMostValues : c.values.size());
    if (c.empty > 0) out += fmt::format("; {} empty", c.empty);
    out += "\n";
  }
}

void describe_label(const Sniffed& s, std::string& out) {
  const ColumnFacts& label = s.columns[*s.label];
  if (s.regression) {
    out +=
        "# The label is a quantity, so this is a regression; remove problem_type if its values are "
        "classes.\n";
    return;
  }
  out += fmt::format("# {} labels:", label.values.size());
  for (std::size_t i = 0; i < std::min(kShownLabels, label.values.size()); ++i) {
    const auto& [name, count] = label.values[i];
    out += fmt::format("{} {} {}", i ? "," : "", toml_string(name), share_of(count, s.rows));
  }
  if (label.values.size() > kShownLabels) out += ", ...";
  out += "\n";
}

void describe_keys(const Sniffed& s, std::string& out) {
  if (!s.table.header && s.format != data::TableFormat::kJsonl) out += "header = false\n";
  if (s.table.delimiter) out += fmt::format("delimiter = {}\n", toml_string(*s.table.delimiter));
  if (s.table.encoding != "utf-8")
    out += fmt::format(
        "encoding = {}            # the file is not UTF-8: look whether its accents come out right\n",
        toml_string(s.table.encoding));
  if (s.text) out += fmt::format("text = {}\n", reference(s, *s.text));
  if (s.text_pair) out += fmt::format("text_pair = {}\n", reference(s, *s.text_pair));
  out += fmt::format("label = {}\n", s.label ? reference(s, *s.label) : "\"?\"  # no column looks like one");
  if (s.regression) out += "problem_type = \"regression\"\n";
}

std::string fleet_file(const InitOptions& options, const Sniffed& s) {
  std::string out =
      fmt::format("# Made by `shoal init {}`. Look it over, then: shoal check FILE; shoal train FILE\n",
                  one_line(options.data.string()));
  describe_columns(s, out);
  if (s.label) describe_label(s, out);
  out += "\n[defaults]\n";
  out += fmt::format("model = {}        # a folder, or a hub id in the local Hugging Face cache\n",
                     toml_string(options.model));
  const auto path = [](const std::filesystem::path& file) {
    return toml_string(std::filesystem::absolute(file).lexically_normal().string());
  };
  out += fmt::format("train_file = {}\n", path(options.data));
  if (options.validation.empty()) {
    out += "validation_split_percentage = 10   # or validation_file = \"...\", or folds = 5\n";
  } else {
    out += fmt::format("validation_file = {}\n", path(options.validation));
  }
  describe_keys(s, out);
  out +=
      "max_seq_length = 128               # tokens; longer texts are cut\n"
      "per_device_train_batch_size = 32\n"
      "num_train_epochs = 3\n"
      "load_best_model_at_end = true\n"
      "\n[[job]]\n"
      "name = \"lr{learning_rate}-s{seed}\"\n"
      "sweep.learning_rate = [2e-5, 5e-5, 1e-4]\n"
      "sweep.seed = [1, 2]\n";
  return out;
}

int init(const InitOptions& options) {
  const Sniffed sniffed = data::sniff(options.data);
  require(sniffed.rows > 0, "{}: error: there is no row", options.data.string());
  const std::string text = fleet_file(options, sniffed);
  if (options.output.empty()) {
    fmt::print("{}", text);
    return kAllDone;
  }
  require(!std::filesystem::exists(options.output), "{}: error: exists already; it is not overwritten",
          options.output.string());
  std::ofstream out(options.output, std::ios::binary);
  out << text << std::flush;
  require(out.good(), "{}: error: cannot be written", options.output.string());
  fmt::print("{}: written; shoal check {} looks at it\n", options.output.string(), options.output.string());
  return kAllDone;
}

}  // namespace

void add_init(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("init", "Look at a table of texts and print a fleet file for it.");
  const auto options = std::make_shared<InitOptions>();
  command->add_option("DATA", options->data, "Rows to train on: .tsv, .csv, .jsonl, .txt")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--validation", options->validation, "Rows to evaluate on")->check(CLI::ExistingFile);
  command->add_option("--model", options->model, "What to start from")->capture_default_str();
  command->add_option("-o,--output", options->output, "Write it there instead; never overwrites");
  command->callback([options, &run] { run = [options] { return init(*options); }; });
}

}  // namespace shoal::cli
