#include "models/weight_files.h"

#include <nlohmann/json.hpp>
#include <set>

#include "data/json_file.h"
#include "kernels/base/error.h"

namespace shoal::models {
namespace {

// One line to paste; clone() because safetensors refuses tensors that share memory (tied embeddings).
constexpr const char* kConversion =
    "python -c \"import torch, safetensors.torch as s; s.save_file({k: v.clone() for k, v in "
    "torch.load('pytorch_model.bin', map_location='cpu', weights_only=True).items()}, 'model.safetensors', "
    "{'format': 'pt'})\"";

[[noreturn]] void fail_without_weights(const std::filesystem::path& folder) {
  require(!std::filesystem::exists(folder / "pytorch_model.bin"),
          "{}: error: has pytorch_model.bin but no model.safetensors; to convert it, run in that folder: {}",
          folder.string(), kConversion);
  for (const char* other :
       {"pytorch_model.bin.index.json", "tf_model.h5", "flax_model.msgpack", "bert_model.ckpt.index"})
    require(!std::filesystem::exists(folder / other),
            "{}: error: has {} but no model.safetensors; allowed: a folder saved by transformers' "
            "save_pretrained",
            folder.string(), other);
  fail("{}: error: no model.safetensors in this folder", folder.string());
}

bool is_buffer(const std::string& name) {
  return name == "embeddings.position_ids" || name == "embeddings.token_type_ids";
}

}  // namespace

std::string plain_name(std::string_view hf_name) {
  constexpr std::string_view prefix = "bert.";
  if (hf_name.starts_with(prefix)) hf_name.remove_prefix(prefix.size());
  for (const auto& [old, now] : {std::pair{"LayerNorm.gamma", "weight"}, std::pair{"LayerNorm.beta", "bias"}})
    if (hf_name.ends_with(old)) return std::string(hf_name.substr(0, hf_name.rfind('.') + 1)) + now;
  return std::string(hf_name);
}

WeightFiles::WeightFiles(const std::filesystem::path& folder) : path_(folder / "model.safetensors") {
  const std::filesystem::path index = folder / "model.safetensors.index.json";
  if (std::filesystem::exists(path_)) {
    files_.emplace_back(path_);
  } else if (std::filesystem::exists(index)) {
    path_ = index;
    open_shards(index);
  } else {
    fail_without_weights(folder);
  }
  for (const SafetensorsFile& file : files_) {
    for (const StoredTensor& tensor : file.tensors()) {
      const std::string name = plain_name(tensor.name);
      if (is_buffer(name)) continue;
      const auto [it, fresh] = tensors_.emplace(name, FoundTensor{&file, &tensor});
      require(fresh, "{}: error: '{}' and '{}' are the same tensor", file.path().string(),
              it->second.tensor->name, tensor.name);
    }
  }
}

void WeightFiles::open_shards(const std::filesystem::path& index) {
  const nlohmann::json json = data::read_json(index);
  const auto map = json.find("weight_map");
  require(map != json.end() && map->is_object(), "{}: error: weight_map is missing or not an object",
          index.string());
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : map->items()) {
    require(shard.is_string(), "{}: error: weight_map[\"{}\"] is {}; allowed: a file name", index.string(),
            tensor, shard.dump());
    const std::filesystem::path name = shard.get<std::string>();
    require(!name.empty() && name == name.filename(),
            "{}: error: weight_map[\"{}\"] is {}; allowed: a file of the same folder", index.string(), tensor,
            shard.dump());
    shards.insert(name.string());
  }
  files_.reserve(shards.size());
  for (const std::string& shard : shards) files_.emplace_back(index.parent_path() / shard);
}

}  // namespace shoal::models
