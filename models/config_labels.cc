#include "models/config_labels.h"

#include <charconv>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "kernels/base/error.h"

namespace shoal::models {
namespace {

using Json = nlohmann::json;

const Json* find_object(const std::filesystem::path& file, const Json& config, const char* key) {
  const auto it = config.find(key);
  if (it == config.end() || it->is_null()) return nullptr;
  require(it->is_object(), "{}: error: {} is {}; allowed: an object", file.string(), key, it->dump());
  return &*it;
}

std::vector<std::string> from_id2label(const std::filesystem::path& file, const Json& id2label) {
  std::map<std::int64_t, std::string> by_id;
  for (const auto& [key, value] : id2label.items()) {
    std::int64_t id = -1;
    const auto [end, code] = std::from_chars(key.data(), key.data() + key.size(), id);
    require(code == std::errc() && end == key.data() + key.size() && id >= 0,
            "{}: error: id2label has the key \"{}\"; allowed: \"0\", \"1\", ...", file.string(), key);
    require(value.is_string(), "{}: error: id2label[\"{}\"] is {}; allowed: a string", file.string(), key,
            value.dump());
    require(by_id.emplace(id, value.get<std::string>()).second, "{}: error: id2label names id {} twice",
            file.string(), id);
  }
  std::vector<std::string> labels;
  for (auto& [id, label] : by_id) {
    require(id == static_cast<std::int64_t>(labels.size()),
            "{}: error: id2label has id {} but no id {}; allowed: ids 0, 1, ... without a hole",
            file.string(), id, labels.size());
    labels.push_back(std::move(label));
  }
  return labels;
}

std::int64_t label_id(const std::filesystem::path& file, const std::string& label, const Json& value) {
  require(value.is_number_integer(), "{}: error: label2id[\"{}\"] is {}; allowed: an integer", file.string(),
          label, value.dump());
  return value.get<std::int64_t>();
}

std::vector<std::string> from_label2id(const std::filesystem::path& file, const Json& label2id) {
  std::vector<std::string> labels(label2id.size());
  std::vector<bool> taken(label2id.size());
  for (const auto& [label, value] : label2id.items()) {
    const std::int64_t id = label_id(file, label, value);
    require(id >= 0 && id < static_cast<std::int64_t>(labels.size()) && !taken[static_cast<std::size_t>(id)],
            "{}: error: label2id gives \"{}\" the id {}; allowed: ids 0 to {}, each once", file.string(),
            label, id, labels.size() - 1);
    labels[static_cast<std::size_t>(id)] = label;
    taken[static_cast<std::size_t>(id)] = true;
  }
  return labels;
}

// Names that stand in one of the two maps only are left alone: people edit id2label and keep the old
// label2id.
void check_agreement(const std::filesystem::path& file, const std::vector<std::string>& labels,
                     const Json& label2id) {
  for (std::size_t id = 0; id < labels.size(); ++id) {
    const auto it = label2id.find(labels[id]);
    if (it == label2id.end()) continue;
    const std::int64_t other = label_id(file, labels[id], *it);
    require(other == static_cast<std::int64_t>(id),
            "{}: error: label \"{}\" has id {} in id2label and id {} in label2id", file.string(), labels[id],
            id, other);
  }
}

}  // namespace

std::vector<std::string> read_labels(const std::filesystem::path& file, const Json& config) {
  const Json* id2label = find_object(file, config, "id2label");
  const Json* label2id = find_object(file, config, "label2id");
  std::vector<std::string> labels;
  if (id2label != nullptr) labels = from_id2label(file, *id2label);
  if (id2label != nullptr && label2id != nullptr) check_agreement(file, labels, *label2id);
  if (id2label == nullptr && label2id != nullptr) labels = from_label2id(file, *label2id);

  std::set<std::string> seen;
  for (const std::string& label : labels)
    require(seen.insert(label).second, "{}: error: id2label names \"{}\" twice", file.string(), label);

  for (const char* key : {"num_labels", "_num_labels"}) {
    const auto count = config.find(key);
    if (count == config.end() || count->is_null() || labels.empty()) continue;
    require(*count == labels.size(), "{}: error: {} is {}, but {} names {} labels", file.string(), key,
            count->dump(), id2label != nullptr ? "id2label" : "label2id", labels.size());
  }
  return labels;
}

}  // namespace shoal::models
