#include "engine/predictions_file.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "data/atomic_file.h"
#include "engine/scores.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

void write_predictions(const std::filesystem::path& file, const data::Subset& rows,
                       const data::LabelMap& labels, bool is_regression, std::span<const float> logits) {
  const std::int64_t n = labels.size();
  SHOAL_CHECK(static_cast<std::int64_t>(logits.size()) == rows.rows() * n);
  const data::Dataset& set = rows.dataset();
  const bool labelled = set.label.front() >= 0;
  std::vector<std::string> names;
  for (const std::string& name : labels.names()) names.push_back(escaped(name));

  std::string text = labelled ? "row\tlabel\tprediction" : "row\tprediction";
  if (!is_regression)
    for (const std::string& name : names) text += "\tp_" + name;
  std::vector<float> probabilities;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    const float* own = logits.data() + i * n;
    text += fmt::format("\n{}", set.line[row]);
    if (is_regression) {
      if (labelled) text += fmt::format("\t{}", set.target[row]);
      text += fmt::format("\t{}", own[0]);
      continue;
    }
    if (labelled) text += "\t" + names[static_cast<std::size_t>(set.label[row])];
    text += "\t" + names[static_cast<std::size_t>(argmax(own, n))];
    probabilities.clear();
    append_softmax(own, n, probabilities);
    for (const float p : probabilities) text += fmt::format("\t{}", p);
  }
  data::write_atomically(file, text + "\n");
}

}  // namespace shoal::engine
