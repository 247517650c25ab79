// BERT over a lane: embeddings, L encoder layers, a head; forward and backward by hand.
// Devlin et al., arXiv 1810.04805, as transformers computes it (post-LayerNorm, GELU in the form of
// hidden_act).
//
// All slots of the lane advance through the same launches. The heads here need the [CLS] rows alone,
// so the last layer's output part runs on one row a sequence (DESIGN section 6).
// Kept for the backward, per token row and layer: qkv 3C, o C, z1 C, x1 C, u F, g F, z2 C, x C.
#pragma once

#include <vector>

#include "kernels/device.h"
#include "models/arena.h"
#include "models/head.h"
#include "models/lane_step.h"
#include "models/layout.h"
#include "models/parameters.h"

namespace shoal::models {

class Bert {
 public:
  Bert(const Layout& layout, const Head& head, DType dtype) : layout_(layout), head_(head), dtype_(dtype) {}

  // Forward, loss, backward: fills loss, row_loss, logits of the lane and the slots' gradients by mode.
  void train(const OpTable& ops, const LaneStep& lane, const SlotRows& rows, Arena& arena,
             Stream stream) const;

  // Forward alone, with the loss where there are labels. Dropout follows the lane's thresholds: the
  // engine sets 65536 (keep all).
  void evaluate(const OpTable& ops, const LaneStep& lane, const SlotRows& rows, Arena& arena,
                Stream stream) const;

 private:
  const Layout& layout_;
  const Head& head_;
  DType dtype_;
};

}  // namespace shoal::models
