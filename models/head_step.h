// What a head runs on. The trunk owns x and dx; the head takes what else it needs from the arena.
#pragma once

#include "kernels/device.h"
#include "models/arena.h"
#include "models/lane_step.h"
#include "models/parameters.h"

namespace shoal::models {

struct HeadStep {
  const OpTable& ops;
  Stream stream;
  DType dtype = DType::kF32;
  const Parameters& parameters;
  const LaneStep& lane;
  Arena& arena;
  std::int64_t hidden = 0;  // C
  std::int64_t layers = 0;  // L, for the dropout site

  const void* x = nullptr;  // [firsts.rows, C] last hidden state of the [CLS] rows
  void* dx = nullptr;       // [firsts.rows, C] its gradient, written by the head; null: evaluation
};

}  // namespace shoal::models
