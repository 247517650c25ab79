// What this device's launchers refuse beyond the contracts.
#pragma once

#include "kernels/checks.h"

namespace shoal::SHOAL_TARGET {

inline void require_bf16(const char* op, DType dtype) {
  Need(op).bf16(dtype);
}

}  // namespace shoal::SHOAL_TARGET
