#include "data/labels.h"

#include <algorithm>
#include <charconv>

#include "data/text_error.h"
#include "data/unicode.h"
#include "kernels/base/error.h"

namespace shoal::data {
namespace {

std::optional<std::int64_t> as_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void sort_names(std::vector<std::string>& names) {
  std::ranges::sort(names);
  if (std::ranges::all_of(names, [](const std::string& name) { return as_integer(name).has_value(); })) {
    std::ranges::stable_sort(names, {}, [](const std::string& name) { return *as_integer(name); });
  }
}

}  // namespace

LabelMap::LabelMap(std::vector<std::string> names) : names_(std::move(names)) {
  for (int id = 0; id < size(); ++id) {
    require(exact_.emplace(name(id), id).second, "label {} stands twice among the labels",
            in_quotes(name(id)));
  }
}

LabelMap LabelMap::from_checkpoint(std::vector<std::string> names) {
  LabelMap map(std::move(names));
  bool default_names = true;
  for (int id = 0; id < map.size(); ++id) {
    default_names = default_names && map.name(id) == "LABEL_" + std::to_string(id);
    const auto [place, is_new] = map.folded_.emplace(lower_case(map.name(id)), id);
    if (!is_new) place->second = -1;  // told apart by case alone: only the exact name is taken
  }
  for (int id = 0; default_names && id < map.size(); ++id) map.exact_.emplace(std::to_string(id), id);
  return map;
}

std::optional<int> LabelMap::find(std::string_view label) const {
  if (const auto found = exact_.find(label); found != exact_.end()) return found->second;
  if (folded_.empty()) return std::nullopt;
  const auto found = folded_.find(lower_case(label));
  if (found == folded_.end() || found->second < 0) return std::nullopt;
  return found->second;
}

LabelMap make_label_map(const LabelSet& labels, std::span<const std::string> checkpoint_names) {
  if (labels.entries.size() < 2) {
    const std::string only = labels.entries.empty() ? "none" : in_quotes(labels.entries[0].name);
    fail_at(labels.file, 0, 0,
            fmt::format("{} has one class only ({} in all {} rows); wanted: two or more", labels.column, only,
                        labels.rows));
  }
  if (!checkpoint_names.empty()) {
    LabelMap map = LabelMap::from_checkpoint({checkpoint_names.begin(), checkpoint_names.end()});
    const auto covered = [&](const LabelSet::Entry& entry) { return map.find(entry.name).has_value(); };
    if (std::ranges::all_of(labels.entries, covered)) return map;
  }
  std::vector<std::string> names;
  for (const LabelSet::Entry& entry : labels.entries) names.push_back(entry.name);
  sort_names(names);
  return LabelMap(std::move(names));
}

}  // namespace shoal::data
