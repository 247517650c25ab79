#include "engine/config/expand.h"

#include <fmt/format.h>

namespace shoal::engine::config {
namespace {

// A slip such as three lists of a thousand should not fill the memory before it is seen.
constexpr std::size_t kMostJobs = 100'000;

std::size_t count_points(const Table& sweep) {
  std::size_t points = 1;
  for (const Entry& entry : sweep) {
    if (entry.value.items.size() > kMostJobs / points) return kMostJobs + 1;
    points *= entry.value.items.size();
  }
  return points;
}

void expand_block(const JobBlock& block, const RawJob& base, std::size_t points, std::vector<RawJob>& jobs) {
  for (std::size_t point = 0; point < points; ++point) {
    RawJob job = base;
    job.trial = static_cast<std::int64_t>(point);
    std::size_t rest = point;
    for (auto entry = block.sweep.rbegin(); entry != block.sweep.rend(); ++entry) {
      const std::vector<Value>& items = entry->value.items;
      job.values[entry->key] = items[rest % items.size()];
      rest /= items.size();
    }
    jobs.push_back(std::move(job));
  }
}

}  // namespace

std::vector<RawJob> expand(const Sections& sections, std::span<const TypedKey> typed, Problems& problems) {
  std::vector<RawJob> jobs;
  for (const JobBlock& block : sections.jobs) {
    RawJob base{.place = block.place, .values = {}, .swept = {}, .trial = 0};
    for (const Entry& entry : sections.defaults) base.values[entry.key] = entry.value;
    for (const Entry& entry : block.keys) base.values[entry.key] = entry.value;
    for (const Entry& entry : block.sweep) base.swept.push_back(entry.key);
    const std::size_t points = count_points(block.sweep);
    if (points > kMostJobs - jobs.size()) {
      problems.add(block.place, fmt::format("more than {} jobs in all with this sweep", kMostJobs));
      return jobs;
    }
    expand_block(block, base, points, jobs);
  }
  for (const TypedKey& key : typed) {
    if (key.scope != TypedKey::Scope::kAllJobs) continue;
    for (RawJob& job : jobs) job.values[key.key] = key.value;
  }
  return jobs;
}

}  // namespace shoal::engine::config
