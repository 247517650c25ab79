// The CPU device: oneDNN for the large products, OpenMP loops for the rest.
//
// Streams run at once on the calling thread, a graph is the stored function. bf16 is offered where the
// CPU multiplies it in hardware (AVX512-BF16 or AMX). Numbers below the smallest normal one are kept:
// the floating-point state of the threads is left as it is.
#pragma once

#include <memory>

#include "kernels/device.h"

namespace shoal::cpu {

std::unique_ptr<Device> make_cpu_device(const DeviceOptions& options);

}  // namespace shoal::cpu
