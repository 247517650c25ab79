// The null device: ops check their arguments and do nothing, memory is a range of addresses that
// nobody may touch. Dry runs size their arenas with it; host logic is tested with it.
#pragma once

#include <memory>

#include "kernels/device.h"

namespace shoal::null {

std::unique_ptr<Device> make_null_device(const DeviceOptions& options);

}  // namespace shoal::null
