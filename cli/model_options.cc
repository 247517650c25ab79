#include "cli/model_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "engine/config/find_model.h"
#include "kernels/base/error.h"

namespace shoal::cli {

data::Column typed_column(const std::string& text) {
  const bool digits =
      !text.empty() && text.size() <= 6 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits) return data::Column::named(text);
  const int number = std::stoi(text);
  require(number >= 1, "column 0: columns are counted from 1");
  return data::Column::numbered(number);
}

std::filesystem::path model_folder(const std::string& typed) {
  return engine::config::find_model(typed, std::filesystem::current_path()).folder;
}

engine::EvalRequest ModelOptions::resolved() const {
  engine::EvalRequest out = request;
  if (!text_column.empty()) out.data.columns.text = typed_column(text_column);
  if (!text_pair_column.empty()) out.data.columns.text_pair = typed_column(text_pair_column);
  out.data.table.header = !no_header;
  if (!delimiter.empty()) out.data.table.delimiter = delimiter == "\\t" ? "\t" : delimiter;
  out.precision = precision == "bf16"   ? engine::Precision::kBf16
                  : precision == "fp32" ? engine::Precision::kFp32
                                        : engine::Precision::kAuto;
  return out;
}

std::unique_ptr<Device> ModelOptions::device() const {
  return make_device(request.device, {.threads = threads});
}

void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("--text-column", options.text_column,
                     "Column of the text, by name or number (default: text)");
  command.add_option("--text-pair-column", options.text_pair_column, "Column of the second text");
  command.add_flag("--no-header", options.no_header, "The file has no row of column names");
  command.add_option("--delimiter", options.delimiter,
                     "What separates the columns (default: by the extension)");
  command
      .add_option("--max-seq-length", options.request.data.max_seq_length, "Tokens of a row; the rest is cut")
      ->check(CLI::Range(3, 1'000'000))
      ->capture_default_str();
  command.add_option("--batch-size", options.request.batch_size, "Rows of a pass")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--device", options.request.device, "What to compute on")->capture_default_str();
  command.add_option("--precision", options.precision, "Arithmetic")
      ->check(CLI::IsMember({"auto", "bf16", "fp32"}))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "Threads of the CPU; 0 = all cores")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
}

}  // namespace shoal::cli
