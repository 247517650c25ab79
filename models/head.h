// Heads: what stands on the trunk. A head is one file in models/heads/ that registers itself in
// models/heads/registry.cc; docs/add-a-head.md walks through it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/config.h"
#include "models/layout.h"

namespace shoal::models {

struct HeadStep;  // models/head_step.h: the buffers and views a head runs on

class Head {
 public:
  virtual ~Head() = default;

  virtual std::string_view task() const = 0;          // HF pipeline name: "text-classification"
  virtual std::string_view architecture() const = 0;  // "BertForSequenceClassification"
  virtual std::string_view problem_type() const = 0;  // as config.json names it

  // The head's tensors, in row order. C = hidden size.
  virtual std::vector<TensorSpec> tensors(std::int64_t hidden) const = 0;

  // Logits, loss and row losses of the lane from the [CLS] rows; with step.dx set also the gradients:
  // the head's own tensors (by the lane's modes) and dx. Dropout follows the lane's thresholds.
  virtual void run(const HeadStep& step) const = 0;
};

// The rows of jobs of this architecture under this head.
Layout layout_of(const BertConfig& config, const Head& head, Extents largest);

constexpr std::string_view kClassification = "single_label_classification";
constexpr std::string_view kRegression = "regression";

// The head of a task and a config.json's problem_type. Error names the known ones. kRegression: one label, so
// Extents::labels is 1; LaneStep::targets holds a float a sequence, `labels`, `smoothing` and `n_labels` of
// its loss are not read (`n_labels`, 1, by the classifier alone).
const Head& find_head(std::string_view task, std::string_view problem_type = kClassification);

}  // namespace shoal::models
