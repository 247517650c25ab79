// A Hugging Face model folder: config.json, model.safetensors and, by the caller, the tokenizer's files.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "models/config.h"
#include "models/layout.h"
#include "models/weights.h"

namespace shoal::models {

struct HfFolder {
  std::filesystem::path folder;
  BertConfig config;
};

// Reads config.json (or Google's bert_config.json). The weights stay on disk, for import_weights.
HfFolder read_hf_folder(const std::filesystem::path& folder);

struct HfExport {
  const BertConfig& config;
  const Layout& layout;
  Extents own;
  std::span<const float> row;
  std::string architecture;         // of the head
  std::string problem_type;         // of the head
  std::vector<std::string> labels;  // by class id
  SaveType type = SaveType::kF32;
};

// Writes the folder. `write_rest` is called with the folder to put further files into (tokenizer). Everything
// is complete on disk before any of it is visible at `folder`: a new folder appears in one rename; in an
// existing one the files are replaced one by one, model.safetensors last, and other files are left alone. A
// failure leaves what was there.
void export_folder(const std::filesystem::path& folder, const HfExport& model,
                   const std::function<void(const std::filesystem::path&)>& write_rest);

}  // namespace shoal::models
