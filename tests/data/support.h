// What the tests of this folder share: files that vanish, the text of an Error, the small vocabulary V0
// and the golden file of the tokenizer.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "data/tokenizer.h"
#include "kernels/base/error.h"

namespace shoal::data {

// A folder of its own for one test, removed at its end.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "shoal-data-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw Error("no temporary folder");
    path_ = pattern;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The message of the Error that `act` throws, with `folder`/ taken out; "no error" if it throws none.
template <typename Act>
std::string error_of(const TempFolder& folder, Act&& act) {
  try {
    act();
  } catch (const Error& error) {
    std::string text = error.what();
    const std::string prefix = folder.path().string() + "/";
    for (std::size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
    return text;
  }
  return "no error";
}

inline const nlohmann::json& golden() {
  static const nlohmann::json root = nlohmann::json::parse(read_bytes(SHOAL_GOLDEN));
  return root;
}

inline Vocabulary v0() {
  return Vocabulary::from_tokens(golden()["vocab"].get<std::vector<std::string>>(), "V0");
}

// Options of the golden file, named as BertNormalizer names them.
inline TokenizerOptions golden_options(const std::string& name) {
  const nlohmann::json& from = golden()["options"][name];
  TokenizerOptions options;
  options.do_lower_case = from["lowercase"];
  options.tokenize_chinese_chars = from["handle_chinese_chars"];
  options.clean_text = from["clean_text"];
  if (!from["strip_accents"].is_null()) options.strip_accents = from["strip_accents"].get<bool>();
  return options;
}

// FNV-1a, 64 bits, as in make_tokenizer_golden.py.
class Fnv {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  void add_number(std::uint32_t number) { value_ = (value_ ^ number) * 0x100000001b3u; }
  std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace shoal::data
