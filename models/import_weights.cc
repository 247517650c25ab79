// Import of a Hugging Face checkpoint: each tensor of the layout is found, checked, widened, or initialised
// with a note.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "kernels/base/dtype.h"
#include "kernels/base/error.h"
#include "models/half.h"
#include "models/parts.h"
#include "models/weight_files.h"
#include "models/weights.h"

namespace shoal::models {
namespace {

template <typename Stored, typename Widen>
void widen(std::span<const std::byte> bytes, std::span<float> to, Widen&& to_float) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    to[i] = to_float(stored);
  }
}

void copy_tensor(const FoundTensor& found, std::span<float> to) {
  const std::span<const std::byte> bytes = found.file->bytes(*found.tensor);
  const std::string& dtype = found.tensor->dtype;
  if (dtype == "F32") {
    std::memcpy(to.data(), bytes.data(), bytes.size());
  } else if (dtype == "F16") {
    widen<std::uint16_t>(bytes, to, half_to_float);
  } else if (dtype == "BF16") {
    widen<bf16>(bytes, to, [](bf16 value) { return static_cast<float>(value); });
  } else {
    fail("{}: error: tensor '{}' has type {}; allowed: F32, F16, BF16", found.file->path().string(),
         found.tensor->name, dtype);
  }
  for (std::size_t i = 0; i < to.size(); ++i)
    require(std::isfinite(to[i]), "{}: error: tensor '{}' holds {} at element {}; allowed: finite weights",
            found.file->path().string(), found.tensor->name, to[i], i);
}

// "classifier" of "classifier.weight": weight and bias of a head are taken together or not at all.
std::string module_of(const Part& part) {
  const std::string name = plain_name(part.spec->hf_name);
  return name.substr(0, name.rfind('.'));
}

std::string list_names(const std::vector<std::string>& names, std::size_t most) {
  const std::size_t shown = std::min(most, names.size());
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

class Import {
 public:
  Import(const WeightFiles& files, std::vector<Part> parts, Extents own, std::uint64_t seed)
      : files_(files), parts_(std::move(parts)), own_(own), seed_(seed) {}

  ImportReport run(const BertConfig& config, std::span<float> row) {
    refuse_missing();
    choose_fresh_modules();
    for (const Part& part : parts_) {
      const auto to =
          row.subspan(static_cast<std::size_t>(part.offset), static_cast<std::size_t>(part.elements));
      if (fresh_.contains(module_of(part))) {
        initialise(*part.spec, seed_, config.initializer_range, -1, to);
      } else {
        const FoundTensor& found = files_.tensors().at(plain_name(part.spec->hf_name));
        check_shape(part, found);
        copy_tensor(found, to);
        ++report_.matched;
      }
    }
    note_unused();
    return std::move(report_);
  }

 private:
  const FoundTensor* find(const Part& part) const {
    const auto it = files_.tensors().find(plain_name(part.spec->hf_name));
    return it == files_.tensors().end() ? nullptr : &it->second;
  }

  void check_shape(const Part& part, const FoundTensor& found) const {
    require(found.tensor->shape == part.shape, "{}: error: tensor '{}' has shape {}, the model needs {}",
            found.file->path().string(), found.tensor->name, shape_text(found.tensor->shape),
            shape_text(part.shape));
  }

  void refuse_missing() const {
    std::vector<std::string> missing;
    std::size_t needed = 0;
    for (const Part& part : parts_) {
      if (part.spec->may_be_missing) continue;
      ++needed;
      if (find(part) == nullptr) missing.push_back(part.spec->hf_name);
    }
    if (missing.empty()) return;
    if (missing.size() == needed) {
      const std::string first = files_.tensors().empty() ? "none" : files_.tensors().begin()->first;
      fail(
          "{}: error: none of the {} tensors of this BERT is there (the file's first is '{}'): not its "
          "checkpoint",
          files_.path().string(), needed, first);
    }
    fail("{}: error: {} of {} tensors are missing: {}", files_.path().string(), missing.size(), needed,
         list_names(missing, missing.size()));
  }

  // Head modules that the file lacks, or has for another number of labels.
  void choose_fresh_modules() {
    std::map<std::string, std::vector<const Part*>> heads;
    for (const Part& part : parts_)
      if (part.spec->may_be_missing) heads[module_of(part)].push_back(&part);
    for (const auto& [module, parts] : heads) {
      const auto absent =
          std::count_if(parts.begin(), parts.end(), [&](const Part* p) { return find(*p) == nullptr; });
      if (absent == static_cast<std::ptrdiff_t>(parts.size())) {
        const std::string what = module.substr(0, module.find('.'));
        report_.notes.push_back(fmt::format("no {} in the file: initialised with seed {}", what, seed_));
        fresh_.insert(module);
        ++report_.initialised;
        continue;
      }
      for (const Part* part : parts)
        require(find(*part) != nullptr, "{}: error: '{}' is there, but '{}' is missing",
                files_.path().string(), module, part->spec->hf_name);
      if (has_other_labels(*parts.front())) {
        report_.notes.push_back(fmt::format("{} {} dropped: the job has {} labels; initialised with seed {}",
                                            module, shape_text(find(*parts.front())->tensor->shape),
                                            own_.labels, seed_));
        fresh_.insert(module);
        ++report_.initialised;
      }
    }
  }

  // True where only the number of labels differs; any other difference is left to check_shape.
  bool has_other_labels(const Part& part) const {
    if (part.extent != Extent::kLabels) return false;
    std::vector<std::int64_t> shape = find(part)->tensor->shape;
    if (shape.empty() || shape.front() == part.shape.front()) return false;
    shape.front() = part.shape.front();
    return shape == part.shape;
  }

  void note_unused() {
    std::set<std::string> ours;
    for (const Part& part : parts_) ours.insert(plain_name(part.spec->hf_name));
    std::vector<std::string> trunk, other;
    for (const auto& [name, found] : files_.tensors()) {
      if (ours.contains(name)) continue;
      const bool of_trunk = name.starts_with("encoder.") || name.starts_with("embeddings.");
      (of_trunk ? trunk : other).push_back(found.tensor->name);
    }
    if (!trunk.empty())
      report_.notes.push_back(fmt::format("{} tensors ignored that config.json has no place for: {}",
                                          trunk.size(), list_names(trunk, 3)));
    if (!other.empty())
      report_.notes.push_back(
          fmt::format("{} tensors of other heads ignored: {}", other.size(), list_names(other, 3)));
  }

  const WeightFiles& files_;
  std::vector<Part> parts_;
  Extents own_;
  std::uint64_t seed_;
  std::set<std::string> fresh_;
  ImportReport report_;
};

}  // namespace

ImportReport import_weights(const std::filesystem::path& folder, const Layout& layout, Extents own,
                            const BertConfig& config, std::uint64_t seed, std::span<float> row) {
  SHOAL_CHECK(static_cast<std::int64_t>(row.size()) == layout.row_elements());
  const WeightFiles files(folder);
  std::fill(row.begin(), row.end(), 0.0f);
  return Import(files, parts_of(layout, own), own, seed).run(config, row);
}

}  // namespace shoal::models
