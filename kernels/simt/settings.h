// What a simt device runs by, and what it counts.
#pragma once

#include <cstdint>

#include "kernels/simt/tensor_core.h"

namespace shoal::simt {

// Of all launches since the counters were last set to zero. Bytes are of device memory; an untouched byte
// counts once per launch in first_*, and at every access in *_bytes. Copies and zeroings do not count.
struct Counters {
  std::int64_t launches = 0;
  std::int64_t mma = 0;  // m16n8k16, of a warp: 4,096 flops each
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
  std::int64_t first_read_bytes = 0;
  std::int64_t first_written_bytes = 0;
};

struct Settings {
  std::uint64_t seed = 0;  // of the order of blocks, threads and streams; 0: as they stand
  TensorCore tensor_core = kHopper;
  Counters counters;
};

}  // namespace shoal::simt
