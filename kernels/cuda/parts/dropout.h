// Hidden dropout by the table of kernels/base/philox.h: one call of the generator for eight elements in a
// row.
#pragma once

#include <ptx/cuda.h>

#include "kernels/base/philox.h"
#include "kernels/base/view.h"

namespace shoal::SHOAL_TARGET {

class HiddenDropout {
 public:
  __device__ HiddenDropout(const Drop& drop, int w) {
    if (drop.seed == nullptr) return;
    threshold_ = drop.threshold[w];
    if (threshold_ == 65536u) return;
    key_ = drop.seed[w];
    update_ = static_cast<std::uint32_t>(drop.update[w]);
    micro_site_ = static_cast<std::uint32_t>(drop.micro[w]) << 16 | drop.site;
    scale_ = 65536.0f / static_cast<float>(threshold_);
  }

  // Elements 8 * eighth .. 8 * eighth + 8 of the entry: an exact 0, whatever it was, or scaled.
  __device__ void apply(float (&v)[8], std::uint32_t eighth) const {
    if (threshold_ == 65536u) return;
    const Philox4 random = philox4x32_10(key_, update_, micro_site_, eighth, 0);
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] = philox_u16(random, i) < threshold_ ? v[i] * scale_ : 0.0f;
  }

 private:
  std::uint32_t threshold_ = 65536;
  std::uint64_t key_ = 0;
  std::uint32_t update_ = 0, micro_site_ = 0;
  float scale_ = 1;
};

}  // namespace shoal::SHOAL_TARGET
