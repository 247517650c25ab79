// The simt device: kernels/cuda/*.cu on the CPU, one fiber per CUDA thread (README.md), with streams that
// show what was not waited for (stream_set.h). Offers bf16. It proves kernels; it is far too slow to train
// with.
#pragma once

#include <memory>

#include "kernels/device.h"
#include "kernels/simt/settings.h"

namespace shoal::simt {

std::unique_ptr<Device> make_simt_device(const DeviceOptions& options);

// Of a simt device: counters, and what may be changed between launches.
Settings& settings_of(Device& device);

}  // namespace shoal::simt
