#include "data/folds.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "data/text_error.h"
#include "kernels/base/error.h"
#include "kernels/base/philox.h"

namespace shoal::data {
namespace {

constexpr std::uint32_t kFoldCounter = 0x464f4c44;  // "FOLD"

class Shuffle {
 public:
  Shuffle(std::uint64_t seed, std::int64_t repeat) : seed_(seed), repeat_(repeat) {}

  std::uint64_t key(std::int32_t row) const {
    const auto c0 = static_cast<std::uint32_t>(row);
    const Philox4 random = philox4x32_10(seed_, c0, 0, static_cast<std::uint32_t>(repeat_), kFoldCounter);
    return std::uint64_t{random.v[1]} << 32 | random.v[0];
  }
  void apply(std::span<std::int32_t> rows) const {
    std::ranges::sort(rows, {}, [&](std::int32_t row) { return std::pair(key(row), row); });
  }

 private:
  std::uint64_t seed_;
  std::int64_t repeat_;
};

std::vector<std::vector<std::int32_t>> classes(const Dataset& dataset) {
  std::vector<std::vector<std::int32_t>> rows;
  for (std::int64_t row = 0; row < dataset.rows(); ++row) {
    const auto label = static_cast<std::size_t>(dataset.label[static_cast<std::size_t>(row)]);
    if (label >= rows.size()) rows.resize(label + 1);
    rows[label].push_back(static_cast<std::int32_t>(row));
  }
  return rows;
}

// Runs of `size` rows, by rank of their target; equal targets in shuffled order.
std::vector<std::vector<std::int32_t>> ranks(const Dataset& dataset, std::int64_t size,
                                             const Shuffle& shuffle) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(dataset.rows()));
  std::iota(all.begin(), all.end(), 0);
  shuffle.apply(all);
  std::ranges::stable_sort(all, {},
                           [&](std::int32_t r) { return dataset.target[static_cast<std::size_t>(r)]; });
  std::vector<std::vector<std::int32_t>> runs;
  for (std::size_t begin = 0; begin < all.size(); begin += static_cast<std::size_t>(size)) {
    const std::size_t end = std::min(all.size(), begin + static_cast<std::size_t>(size));
    runs.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(begin),
                      all.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return runs;
}

struct Group {
  std::vector<std::int32_t> rows;
  std::map<std::int32_t, double> counts;  // rows by class
};

std::vector<Group> groups_by_size(const Dataset& dataset, std::span<const std::string> names,
                                  const Shuffle& shuffle) {
  std::map<std::string_view, std::size_t> places;
  std::vector<Group> groups;
  for (std::size_t row = 0; row < names.size(); ++row) {
    const auto [place, is_new] = places.try_emplace(names[row], groups.size());
    if (is_new) groups.emplace_back();
    Group& group = groups[place->second];
    group.rows.push_back(static_cast<std::int32_t>(row));
    group.counts[dataset.label[row]] += 1;
  }
  std::ranges::sort(groups, {}, [&](const Group& g) {
    return std::tuple(-static_cast<std::int64_t>(g.rows.size()), shuffle.key(g.rows.front()), g.rows.front());
  });
  return groups;
}

struct Part {
  std::map<std::int32_t, double> counts;
  std::size_t rows = 0;
};

// By how much the sum of squared shares grows if `group` joins `part`, but for what is the same for all
// parts.
double crowding(const Group& group, const Part& part, const std::map<std::int32_t, double>& totals) {
  double sum = 0;
  for (const auto& [label, count] : group.counts) {
    const auto there = part.counts.find(label);
    const double total = totals.at(label);
    if (there != part.counts.end()) sum += count * there->second / (total * total);
  }
  return sum;
}

std::vector<std::int32_t> assign_groups(const Dataset& dataset, std::span<const std::string> names,
                                        std::int64_t n, const Shuffle& shuffle) {
  const std::vector<Group> groups = groups_by_size(dataset, names, shuffle);
  if (static_cast<std::int64_t>(groups.size()) < n) {
    fail_at(dataset.file, 0, 0,
            fmt::format("{} folds of {} groups; allowed: at most as many folds as groups", n, groups.size()));
  }
  std::map<std::int32_t, double> totals;
  for (const Group& group : groups)
    for (const auto& [label, count] : group.counts) totals[label] += count;
  std::vector<Part> parts(static_cast<std::size_t>(n));
  std::vector<std::int32_t> part_of(names.size());
  for (const Group& group : groups) {
    const auto least = std::ranges::min_element(
        parts, {}, [&](const Part& part) { return std::pair(crowding(group, part, totals), part.rows); });
    for (const auto& [label, count] : group.counts) least->counts[label] += count;
    least->rows += group.rows.size();
    for (const std::int32_t row : group.rows)
      part_of[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(least - parts.begin());
  }
  return part_of;
}

}  // namespace

std::vector<std::int32_t> assign_folds(const Dataset& dataset, std::span<const std::string> groups,
                                       std::int64_t n, std::int64_t repeat, std::uint64_t seed) {
  require(n >= 2, "folds: {} parts; allowed: 2 or more", n);
  if (dataset.rows() < n)
    fail_at(dataset.file, 0, 0, fmt::format("{} rows cannot be cut into {} folds", dataset.rows(), n));
  const Shuffle shuffle(seed, repeat);
  if (!groups.empty()) {
    SHOAL_CHECK(static_cast<std::int64_t>(groups.size()) == dataset.rows());
    return assign_groups(dataset, groups, n, shuffle);
  }
  std::vector<std::int32_t> part_of(static_cast<std::size_t>(dataset.rows()));
  std::int64_t dealt = 0;
  for (std::vector<std::int32_t>& stratum :
       dataset.target.empty() ? classes(dataset) : ranks(dataset, n, shuffle)) {
    shuffle.apply(stratum);
    for (const std::int32_t row : stratum)
      part_of[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(dealt++ % n);
  }
  return part_of;
}

std::vector<std::int32_t> assign_split(const Dataset& dataset, std::int64_t percent, std::uint64_t seed) {
  require(percent >= 1 && percent <= 99, "validation_split_percentage is {}; allowed: 1 to 99", percent);
  const Shuffle shuffle(seed, 0);
  std::vector<std::int32_t> kept(static_cast<std::size_t>(dataset.rows()));
  std::int64_t seen = 0, taken = 0;
  for (std::vector<std::int32_t>& stratum : classes(dataset)) {  // of a regression: one
    const auto size = static_cast<std::int64_t>(stratum.size());
    if (size == 0) continue;
    shuffle.apply(stratum);
    seen += size;
    const std::int64_t due = (2 * seen * percent + 100) / 200 - taken;  // rounded half up
    const std::int64_t take = std::clamp<std::int64_t>(due, 0, size - 1);
    for (std::int64_t i = 0; i < take; ++i)
      kept[static_cast<std::size_t>(stratum[static_cast<std::size_t>(i)])] = 1;
    taken += take;
  }
  if (taken == 0) {
    fail_at(
        dataset.file, 0, 0,
        fmt::format("validation_split_percentage = {} keeps none of the {} rows", percent, dataset.rows()));
  }
  return kept;
}

}  // namespace shoal::data
