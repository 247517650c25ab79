// Time of one call, from device events around many: warm-up first, then a number of runs that fits the time
// given, each long enough for the event clock. Short calls are captured into a graph once and replayed, so
// that the gaps between launches from the host do not count.
#pragma once

#include <cuda_runtime.h>

#include <functional>

#include "bench/probe/part.h"
#include "bench/probe/statistics.h"

namespace shoal::probe {

// Enqueues one call on the stream. `call` counts up: what rotates its buffers takes it modulo their number.
using Launch = std::function<void(cudaStream_t stream, int call)>;

struct TimingLimits {
  double seconds = 0.25;  // for all runs of this measurement
  bool graph = true;      // false where the call cannot be captured or the launch itself is the subject
};

Spread time_calls(const PartContext& context, const Launch& launch, const TimingLimits& limits = {});

}  // namespace shoal::probe
