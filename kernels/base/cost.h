// What one call of an op moves and computes, by its contract: bench divides by it, tests count
// against it. Bytes of main memory, assuming each operand is read or written once.
#pragma once

#include <cstdint>

namespace shoal {

struct Cost {
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t flops = 0;
  std::int64_t product_flops = 0;  // of these, the matrix products that tensor cores do
};

}  // namespace shoal
