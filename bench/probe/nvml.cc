#include "bench/probe/nvml.h"

#include <dlfcn.h>

namespace shoal::probe {
namespace {

// From the library's published interface; every call returns 0 for success.
constexpr unsigned kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;
using Init = int (*)();
using ByBusId = int (*)(const char*, void**);
using ReadClock = int (*)(void*, unsigned, unsigned*);
using ReadNumber = int (*)(void*, unsigned*);
using ReadDriver = int (*)(char*, unsigned);

}  // namespace

template <typename F>
F Nvml::function(const char* name) const {
  return library_ == nullptr ? nullptr : reinterpret_cast<F>(dlsym(library_, name));
}

Nvml::Nvml(const std::string& pci_bus_id) {
  for (const char* name : {"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1"}) {
    if (library_ == nullptr) library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  const auto init = function<Init>("nvmlInit_v2");
  const auto find = function<ByBusId>("nvmlDeviceGetHandleByPciBusId_v2");
  if (init == nullptr || find == nullptr || init() != 0 || find(pci_bus_id.c_str(), &device_) != 0)
    device_ = nullptr;
}

Nvml::~Nvml() {
  if (library_ != nullptr) dlclose(library_);
}

CardState Nvml::state() const {
  CardState s;
  if (device_ == nullptr) return s;
  const auto clock = function<ReadClock>("nvmlDeviceGetClockInfo");
  const auto most = function<ReadClock>("nvmlDeviceGetMaxClockInfo");
  const auto power = function<ReadNumber>("nvmlDeviceGetPowerUsage");
  const auto cap = function<ReadNumber>("nvmlDeviceGetEnforcedPowerLimit");
  const auto heat = function<ReadClock>("nvmlDeviceGetTemperature");
  unsigned number = 0;
  s.known = clock != nullptr && clock(device_, kClockSm, &number) == 0;
  s.sm_mhz = static_cast<int>(number);
  if (clock != nullptr && clock(device_, kClockMemory, &number) == 0) s.memory_mhz = static_cast<int>(number);
  if (most != nullptr && most(device_, kClockSm, &number) == 0) s.sm_mhz_most = static_cast<int>(number);
  if (power != nullptr && power(device_, &number) == 0) s.watts = number * 1e-3;
  if (cap != nullptr && cap(device_, &number) == 0) s.watts_cap = number * 1e-3;
  if (heat != nullptr && heat(device_, kTemperatureGpu, &number) == 0) s.celsius = static_cast<int>(number);
  return s;
}

std::string Nvml::driver() const {
  char text[96] = "";
  const auto read = function<ReadDriver>("nvmlSystemGetDriverVersion");
  return device_ != nullptr && read != nullptr && read(text, sizeof text) == 0 ? text : "";
}

}  // namespace shoal::probe
