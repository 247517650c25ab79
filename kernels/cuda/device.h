// The CUDA device: kernels/cuda/*.cu on the first GPU that the process sees (CUDA_VISIBLE_DEVICES). Offers
// bf16.
//
// A block of memory is a cudaMalloc of its own: the engine asks for a few large ones, all of them before the
// first step, so memory runs out at the start or never. Streams run beside each other and beside the legacy
// stream, events carry no time.
#pragma once

#include <memory>
#include <string>

#include "kernels/device.h"

namespace shoal::cuda {

// Error, in one line, where why_no_gpu() says something.
std::unique_ptr<Device> make_cuda_device(const DeviceOptions& options);

// Why the kernels cannot run on this machine; empty: they can.
std::string why_no_gpu();

}  // namespace shoal::cuda
