// Class names and their ids.
//
// Built from the training data: names sorted by code point, or by value where all of them are integers;
// id = place in that order. Where the checkpoint brings names of its own (config.json: id2label) that
// cover the data's, the checkpoint's names and ids hold instead, and data match them without regard to
// upper and lower case; a checkpoint whose names are all HF's default LABEL_k also takes the number k.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::data {

// The labels met in a file.
struct LabelSet {
  struct Entry {
    std::string name;
    std::int64_t rows = 0;
    std::int64_t first_line = 0;
  };
  std::filesystem::path file;
  std::string column;  // as the user named it, for messages
  std::int64_t rows = 0;
  std::vector<Entry> entries;  // in order of first appearance
};

class LabelMap {
 public:
  LabelMap() = default;

  // Names in id order, matched exactly. Duplicates are an Error.
  explicit LabelMap(std::vector<std::string> names);
  // Names of a checkpoint in id order (id2label), matched as said above.
  static LabelMap from_checkpoint(std::vector<std::string> names);

  int size() const { return static_cast<int>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& name(int id) const { return names_.at(static_cast<std::size_t>(id)); }
  std::optional<int> find(std::string_view name) const;
  bool folds_case() const { return !folded_.empty(); }  // names of a checkpoint

 private:
  std::vector<std::string> names_;
  std::map<std::string, int, std::less<>> exact_;
  std::map<std::string, int, std::less<>> folded_;  // empty unless from a checkpoint
};

// The map for training: the checkpoint's where it covers all labels of the data, else the data's own.
// Fewer than two classes in the data are an Error. `checkpoint_names`: id order, empty = none.
LabelMap make_label_map(const LabelSet& labels, std::span<const std::string> checkpoint_names = {});

}  // namespace shoal::data
