// The safetensors files of a model folder and their tensors by engine-independent name.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/safetensors.h"

namespace shoal::models {

struct FoundTensor {
  const SafetensorsFile* file = nullptr;
  const StoredTensor* tensor = nullptr;
};

// One name for all spellings: without the prefix "bert.", with weight/bias for LayerNorm's gamma/beta.
std::string plain_name(std::string_view hf_name);

class WeightFiles {
 public:
  // model.safetensors, else the shards named by model.safetensors.index.json. Error: neither is there (with
  // the conversion where only another framework's file is), a shard outside the folder, one tensor under two
  // names.
  explicit WeightFiles(const std::filesystem::path& folder);

  // By plain name, buffers that are no weights (position_ids) left out.
  const std::map<std::string, FoundTensor>& tensors() const { return tensors_; }
  const std::filesystem::path& path() const { return path_; }  // the file that stands for all, in messages

 private:
  void open_shards(const std::filesystem::path& index);

  std::filesystem::path path_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string, FoundTensor> tensors_;
};

}  // namespace shoal::models
