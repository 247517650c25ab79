// The only file that names the devices.
#include <fmt/ranges.h>

#include "kernels/base/error.h"
#include "kernels/cpu/device.h"
#include "kernels/device.h"
#include "kernels/null/device.h"
#include "kernels/simt/device.h"
#if defined(SHOAL_HAS_CUDA)  // set by kernels/cuda/CMakeLists.txt
#include "kernels/cuda/device.h"
#endif

namespace shoal {
namespace {

std::string here() {
  return "";
}

struct Entry {
  std::string_view name;
  std::unique_ptr<Device> (*make)(const DeviceOptions&);
  std::string (*why_not)() = here;
};

constexpr Entry kDevices[] = {
    {"cpu", cpu::make_cpu_device},
#if defined(SHOAL_HAS_CUDA)
    {"cuda", cuda::make_cuda_device, cuda::why_no_gpu},
#endif
    {"null", null::make_null_device},
    {"simt", simt::make_simt_device},
};

const Entry* find(std::string_view name) {
  for (const Entry& entry : kDevices) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Device> make_device(std::string_view name, const DeviceOptions& options) {
  require(options.threads >= 0, "device: threads: wanted 0 (all cores) or more, got {}", options.threads);
  if (name == "auto") name = "cpu";  // not "cuda", while it has never run on a GPU
  if (const Entry* const entry = find(name)) return entry->make(options);
  fail("{}", why_no_device(name));
}

std::string why_no_device(std::string_view name) {
  if (const Entry* const entry = find(name)) return entry->why_not();
  if (name == "cuda") {
    return "device: \"cuda\" is not in this build: where it was configured there was no CUDA compiler, or "
           "SHOAL_CUDA was OFF";
  }
  return fmt::format("device: unknown device \"{}\"; allowed: auto, {}", name,
                     fmt::join(device_names(), ", "));
}

std::vector<std::string_view> device_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kDevices) names.push_back(entry.name);
  return names;
}

}  // namespace shoal
