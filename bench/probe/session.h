// One run of the probe as its JSON record (bench/results/README.md says what it holds).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/probe/plan.h"
#include "bench/probe/runner.h"

namespace shoal::probe {

class Session {
 public:
  void add(const PlannedPart& planned, PartReport report);
  // Promised lines that did not come; those of another compute capability do not count where it is known.
  static std::vector<std::string> missing(const PlannedPart& planned, const PartReport& report, bool hopper);
  bool hopper() const;  // as the device line says; true while it is unknown
  bool whole() const;   // every part ran to its end
  std::string json(double seconds) const;

 private:
  std::vector<std::pair<PlannedPart, PartReport>> parts_;
};

}  // namespace shoal::probe
