// The driver's management library, opened at run time: clocks, power and its cap. Its absence is normal
// (containers often lack it) and leaves the numbers unknown; nothing is ever set.
#pragma once

#include <string>

namespace shoal::probe {

struct CardState {
  bool known = false;
  int sm_mhz = 0, memory_mhz = 0, sm_mhz_most = 0;
  double watts = 0, watts_cap = 0;
  int celsius = 0;
};

class Nvml {
 public:
  explicit Nvml(const std::string& pci_bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  CardState state() const;
  std::string driver() const;  // empty where unknown

 private:
  template <typename F>
  F function(const char* name) const;

  void* library_ = nullptr;
  void* device_ = nullptr;
};

}  // namespace shoal::probe
