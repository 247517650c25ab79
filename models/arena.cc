#include "models/arena.h"

#include <algorithm>

#include "kernels/base/error.h"

namespace shoal::models {

void* Arena::take_bytes(std::string_view name, std::size_t bytes) {
  const std::size_t rounded = (bytes + kAlign - 1) / kAlign * kAlign;
  require(rounded <= capacity_ - top_, "arena: no room for {}: {} bytes wanted, {} of {} left", name, rounded,
          capacity_ - top_, capacity_);
  std::byte* block = base_ + top_;
  top_ += rounded;
  high_water_ = std::max(high_water_, top_);
  return block;
}

}  // namespace shoal::models
