#include "engine/config/find_model.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <vector>

#include "data/text_error.h"
#include "models/config.h"

namespace shoal::engine::config {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// "name" or "organisation/name", as the hub allows them.
bool looks_like_hub_id(std::string_view name) {
  if (std::ranges::count(name, '/') > 1 || name.front() == '.' || name.front() == '/' || name.back() == '/')
    return false;
  return std::ranges::all_of(
      name, [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_' || c == '/'; });
}

// The snapshot of the main branch; without a note of it, the only snapshot. Empty: none.
fs::path snapshot(const fs::path& repository) {
  std::error_code ignored;
  std::string commit;
  std::ifstream(repository / "refs" / "main") >> commit;
  if (!commit.empty() && fs::is_directory(repository / "snapshots" / commit, ignored)) {
    return repository / "snapshots" / commit;
  }
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(repository / "snapshots", ignored)) {
    if (entry.is_directory(ignored)) found.push_back(entry.path());
  }
  return found.size() == 1 ? found.front() : fs::path();
}

fs::path in_cache(const std::string& id) {
  std::string folder = "models--" + id;
  if (const std::size_t slash = folder.find('/'); slash != std::string::npos) folder.replace(slash, 1, "--");
  return snapshot(hub_cache() / folder);
}

void check_preset(const std::string& name) {
  try {
    static_cast<void>(models::preset_config(name));
  } catch (const Error& error) {
    // The place comes before the complaint here, so its own "error: " would stand twice.
    constexpr std::string_view kPrefix = "error: ";
    const std::string_view what = error.what();
    throw Error(std::string(what.starts_with(kPrefix) ? what.substr(kPrefix.size()) : what));
  }
}

bool has_config(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "config.json", ignored) || fs::exists(folder / "bert_config.json", ignored);
}

}  // namespace

fs::path hub_cache() {
  if (const std::string cache = environment("HF_HUB_CACHE"); !cache.empty()) return cache;
  if (const std::string home = environment("HF_HOME"); !home.empty()) return fs::path(home) / "hub";
  const std::string cache = environment("XDG_CACHE_HOME");
  return (cache.empty() ? fs::path(environment("HOME")) / ".cache" : fs::path(cache)) / "huggingface" / "hub";
}

ModelSource find_model(const std::string& name, const fs::path& base) {
  const fs::path folder = resolved_path(name, {base});
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) {
    if (!has_config(folder)) {
      throw Missing(fmt::format("the folder '{}' has no config.json, so it is not a Hugging Face model",
                                folder.string()));
    }
    return {.folder = folder, .preset = {}, .vocab = {}};
  }
  if (fs::exists(folder, ignored)) {
    throw Missing(
        fmt::format("'{}' is a file; the folder that holds config.json is wanted", folder.string()));
  }
  if (!looks_like_hub_id(name)) throw Missing(fmt::format("no folder '{}'", folder.string()));
  if (const fs::path cached = in_cache(name); !cached.empty()) {
    if (has_config(cached)) return {.folder = cached, .preset = {}, .vocab = {}};
    throw Missing(
        fmt::format("the cached model '{}' has no config.json; download it again with: hf download {}",
                    cached.string(), name));
  }
  throw Missing(
      fmt::format("no folder '{}', and '{}' is not in the Hugging Face cache '{}'; download it with: "
                  "hf download {}",
                  folder.string(), name, hub_cache().string(), name));
}

ModelSource preset_model(const Value& table, const Context& context) {
  static const std::vector<std::string> keys = {"preset", "vocab"};
  for (const auto& [key, place, value] : table.table) {
    if (std::ranges::find(keys, key) == keys.end()) {
      throw Error("unknown key " + data::in_quotes(key) + " in the table" +
                  data::allowed_and_nearest(key, keys));
    }
    if (value.type != Value::Type::kText || value.written.empty()) {
      throw Error(fmt::format("{} is {}; allowed: a text", key, value.shown()));
    }
  }
  const Value* preset = table.find("preset");
  const Value* vocab = table.find("vocab");
  if (!preset || !vocab) {
    throw Error("random weights take both of { preset = \"bert-tiny\", vocab = \"vocab.txt\" }");
  }
  check_preset(preset->written);
  ModelSource source{
      .folder = {}, .preset = preset->written, .vocab = resolved_path(vocab->written, context)};
  std::error_code ignored;
  if (!fs::exists(source.vocab, ignored))
    throw Missing(fmt::format("no vocabulary '{}'", source.vocab.string()));
  return source;
}

}  // namespace shoal::engine::config
