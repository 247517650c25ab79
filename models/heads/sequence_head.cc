#include "models/heads/sequence_head.h"

namespace shoal::models {
namespace {

constexpr const char* kPoolerWeight = "head.bert.pooler.dense.weight";
constexpr const char* kPoolerBias = "head.bert.pooler.dense.bias";
constexpr const char* kClassifierWeight = "head.classifier.weight";
constexpr const char* kClassifierBias = "head.classifier.bias";

void backward(const HeadStep& step, const void* pooled, const void* dropped, const float* dlogits,
              const Drop& drop) {
  const LaneStep& lane = step.lane;
  const int C = static_cast<int>(step.hidden);
  const auto grad = [&](const char* name) { return step.parameters.grad(name, lane.mode); };

  void* dpooled = step.arena.take("dpooled", step.dtype, lane.firsts.rows * C);
  step.ops.classifier_backward({.dtype = step.dtype,
                                .dx = dpooled,
                                .dw = grad(kClassifierWeight),
                                .db = grad(kClassifierBias),
                                .dlogits = dlogits,
                                .x = dropped,
                                .w = step.parameters.operand(kClassifierWeight),
                                .n = lane.n_labels,
                                .ld = lane.ld,
                                .C = C,
                                .rows = lane.firsts},
                               step.stream);
  step.ops.dropout(
      {.dtype = step.dtype, .y = dpooled, .x = dpooled, .C = C, .drop = drop, .rows = lane.firsts},
      step.stream);
  step.ops.tanh_backward(
      {.dtype = step.dtype, .du = dpooled, .dy = dpooled, .y = pooled, .N = C, .rows = lane.firsts},
      step.stream);
  step.ops.linear_backward_input({.dtype = step.dtype,
                                  .dx = step.dx,
                                  .dy = dpooled,
                                  .w = step.parameters.operand(kPoolerWeight),
                                  .N = C,
                                  .K = C,
                                  .rows = lane.firsts},
                                 step.stream);
  LinearBackwardWeightGroup group{.dtype = step.dtype, .items = 1};
  group.item[0] = {.dw = grad(kPoolerWeight),
                   .db = grad(kPoolerBias),
                   .dy = dpooled,
                   .x = step.x,
                   .N = C,
                   .K = C,
                   .rows = lane.firsts};
  step.ops.linear_backward_weight_group(group, step.stream);
}

}  // namespace

std::vector<TensorSpec> SequenceHead::tensors(std::int64_t hidden) const {
  return {
      {.hf_name = "bert.pooler.dense.weight", .rows = hidden, .cols = hidden, .may_be_missing = true},
      {.hf_name = "bert.pooler.dense.bias",
       .rows = hidden,
       .init = Init::kZeros,
       .decay = false,
       .may_be_missing = true},
      {.hf_name = "classifier.weight", .extent = Extent::kLabels, .cols = hidden, .may_be_missing = true},
      {.hf_name = "classifier.bias",
       .extent = Extent::kLabels,
       .init = Init::kZeros,
       .decay = false,
       .may_be_missing = true},
  };
}

void SequenceHead::run(const HeadStep& step) const {
  const LaneStep& lane = step.lane;
  const int C = static_cast<int>(step.hidden);
  const std::int64_t elements = lane.firsts.rows * C;
  const ArenaScope scope(step.arena);
  const Drop drop = dropout_of(lane, lane.classifier_threshold, classifier_site(step.layers));

  void* pooled = step.arena.take("pooled", step.dtype, elements);
  void* dropped = step.arena.take("pooled.dropped", step.dtype, elements);
  step.ops.linear_tanh_forward({.dtype = step.dtype,
                                .y = pooled,
                                .x = step.x,
                                .w = step.parameters.operand(kPoolerWeight),
                                .b = step.parameters.operand(kPoolerBias),
                                .N = C,
                                .K = C,
                                .rows = lane.firsts},
                               step.stream);
  step.ops.dropout(
      {.dtype = step.dtype, .y = dropped, .x = pooled, .C = C, .drop = drop, .rows = lane.firsts},
      step.stream);
  step.ops.classifier_forward({.dtype = step.dtype,
                               .logits = lane.logits,
                               .x = dropped,
                               .w = step.parameters.operand(kClassifierWeight),
                               .b = step.parameters.operand(kClassifierBias),
                               .n = lane.n_labels,
                               .ld = lane.ld,
                               .C = C,
                               .rows = lane.firsts},
                              step.stream);
  float* dlogits =
      step.dx == nullptr ? nullptr : step.arena.take<float>("dlogits", lane.firsts.rows * lane.ld);
  loss(step, dlogits);
  if (step.dx != nullptr) backward(step, pooled, dropped, dlogits, drop);
}

}  // namespace shoal::models
