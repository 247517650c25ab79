// What is wrong with a fleet file, collected: a user mends ten mistakes in one go, not in ten runs.
#pragma once

#include <set>
#include <string>

#include "engine/config/value.h"

namespace shoal::engine::config {

class Problems {
 public:
  static constexpr std::size_t kMostShown = 20;

  // The same complaint at the same place counts once: one line of [defaults] reaches many jobs.
  void add(const Place& place, std::string what);
  bool empty() const { return all_.empty(); }

  // Throws one Error, a line a problem, in the order of the file: the first kMostShown, the rest counted.
  void refuse_if_any() const;

 private:
  struct Problem {
    Place place;
    std::string what;
    auto operator<=>(const Problem&) const = default;
  };
  std::set<Problem> all_;
};

}  // namespace shoal::engine::config
