// What the heads over a whole text share, as in transformers' BertForSequenceClassification:
// logits = classifier(dropout(tanh(pooler(x of [CLS])))). They differ in the loss.
#pragma once

#include "models/head.h"
#include "models/head_step.h"

namespace shoal::models {

class SequenceHead : public Head {
 public:
  std::string_view task() const final { return "text-classification"; }
  std::string_view architecture() const final { return "BertForSequenceClassification"; }
  std::vector<TensorSpec> tensors(std::int64_t hidden) const final;
  void run(const HeadStep& step) const final;

 private:
  // Loss and row losses of the lane's logits; dlogits [firsts.rows, ld], null: evaluation.
  virtual void loss(const HeadStep& step, float* dlogits) const = 0;
};

}  // namespace shoal::models
