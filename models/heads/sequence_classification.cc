// Classification of a text or a pair: softmax cross-entropy over the job's own labels.
#include "models/heads/sequence_head.h"

namespace shoal::models {
namespace {

class SequenceClassification final : public SequenceHead {
 public:
  std::string_view problem_type() const override { return kClassification; }

 private:
  void loss(const HeadStep& step, float* dlogits) const override {
    const LaneStep& lane = step.lane;
    step.ops.cross_entropy({.loss = lane.loss,
                            .row_loss = lane.row_loss,
                            .dlogits = dlogits,
                            .logits = lane.logits,
                            .labels = lane.labels,
                            .inv_items = lane.inv_items,
                            .smoothing = lane.smoothing,
                            .n = lane.n_labels,
                            .ld = lane.ld,
                            .rows = lane.firsts},
                           step.stream);
  }
};

}  // namespace

const Head& sequence_classification_head() {
  static const SequenceClassification head;
  return head;
}

}  // namespace shoal::models
