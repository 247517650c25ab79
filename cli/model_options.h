// Options that `eval` and `predict` share: how a model's input is read, what to compute on.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/fleet.h"
#include "kernels/device.h"

namespace CLI {
class App;
}

namespace shoal::cli {

struct ModelOptions {
  engine::EvalRequest request;
  std::string text_column, text_pair_column, delimiter, precision = "auto";
  bool no_header = false;
  int threads = 0;

  // Everything as the engine wants it.
  engine::EvalRequest resolved() const;
  std::unique_ptr<Device> device() const;
};

// The folder of a model as typed: a folder, or a hub id that is in the local Hugging Face cache.
std::filesystem::path model_folder(const std::string& typed);

// A column as typed: digits alone are its number from 1.
data::Column typed_column(const std::string& text);

void add_model_options(CLI::App& command, ModelOptions& options);

}  // namespace shoal::cli
