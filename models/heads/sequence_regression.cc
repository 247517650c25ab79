// A number for a text or a pair: one output, mean squared error over the window's items.
#include "models/heads/sequence_head.h"

namespace shoal::models {
namespace {

class SequenceRegression final : public SequenceHead {
 public:
  std::string_view problem_type() const override { return kRegression; }

 private:
  void loss(const HeadStep& step, float* dlogits) const override {
    const LaneStep& lane = step.lane;
    step.ops.squared_error({.loss = lane.loss,
                            .row_loss = lane.row_loss,
                            .dlogits = dlogits,
                            .logits = lane.logits,
                            .targets = lane.targets,
                            .inv_items = lane.inv_items,
                            .ld = lane.ld,
                            .rows = lane.firsts},
                           step.stream);
  }
};

}  // namespace

const Head& sequence_regression_head() {
  static const SequenceRegression head;
  return head;
}

}  // namespace shoal::models
