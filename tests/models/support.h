// What the tests of models/ share: a folder that goes away, the text of an error, a very small BERT.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "models/config.h"
#include "models/head.h"
#include "models/layout.h"
#include "models/parts.h"

namespace shoal::models {

class TempFolder {
 public:
  TempFolder() {
    static std::atomic<int> counter{0};
    path_ = std::filesystem::temp_directory_path() / fmt::format("shoal-models-{}-{}", ::getpid(), counter++);
    std::filesystem::create_directories(path_);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code code;
    std::filesystem::remove_all(path_, code);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The message of the Error that `call` throws; "no error" where it throws none.
template <typename Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline std::vector<TensorSpec> classification_head(std::int64_t hidden) {
  return find_head("text-classification").tensors(hidden);
}

inline BertConfig small_config() {
  BertConfig config;
  config.vocab_size = 10;
  config.hidden_size = 8;
  config.num_hidden_layers = 1;
  config.num_attention_heads = 2;
  config.intermediate_size = 16;
  config.max_position_embeddings = 6;
  return config;
}

// A layout larger than the job: labels up to 5, a vocabulary up to 40.
inline Layout layout_of(const BertConfig& config, Extents largest = {5, 40}) {
  return Layout(shape_of(config), classification_head(config.hidden_size), largest);
}

}  // namespace shoal::models
