// The only file that names the devices.
#include <fmt/ranges.h>

#include "kernels/base/error.h"
#include "kernels/cpu/device.h"
#include "kernels/device.h"
#include "kernels/null/device.h"

namespace shoal {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Device> (*make)(const DeviceOptions&);
};

constexpr Entry kDevices[] = {{"cpu", cpu::make_cpu_device}, {"null", null::make_null_device}};

}  // namespace

std::unique_ptr<Device> make_device(std::string_view name, const DeviceOptions& options) {
  require(options.threads >= 0, "device: threads: wanted 0 (all cores) or more, got {}", options.threads);
  const std::string_view wanted = name == "auto" ? kDevices[0].name : name;
  for (const Entry& entry : kDevices) {
    if (entry.name == wanted) return entry.make(options);
  }
  fail("device: unknown device \"{}\"; allowed: auto, {}", name, fmt::join(device_names(), ", "));
}

std::vector<std::string_view> device_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kDevices) names.push_back(entry.name);
  return names;
}

}  // namespace shoal
