#include "engine/config/problems.h"

#include <fmt/format.h>

#include "kernels/base/error.h"

namespace shoal::engine::config {

void Problems::add(const Place& place, std::string what) {
  all_.insert({place, std::move(what)});
}

void Problems::refuse_if_any() const {
  if (all_.empty()) return;
  std::string out;
  std::size_t shown = 0;
  for (const Problem& problem : all_) {
    if (shown == kMostShown) break;
    out += fmt::format("{}{}: error: {}", shown++ ? "\n" : "", problem.place.text(), problem.what);
  }
  if (shown < all_.size()) out += fmt::format("\n... and {} more errors", all_.size() - shown);
  throw Error(out);
}

}  // namespace shoal::engine::config
