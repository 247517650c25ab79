#include <fmt/format.h>

#include <algorithm>

#include "data/text_error.h"
#include "engine/config/axes.h"
#include "engine/config/distribution.h"
#include "engine/config/keys.h"

namespace shoal::engine::config {
namespace {

struct Search {
  std::int64_t n_trials = 0;
  std::uint64_t seed = 0;
};

// Reads `search`, key by key; `ok` turns false with the first problem.
class SearchReader {
 public:
  SearchReader(const Entry& entry, Problems& problems) : entry_(entry), problems_(problems) {}

  std::optional<Search> read() {
    if (entry_.value.type != Value::Type::kTable) {
      refuse(entry_.value, "allowed: a table such as { n_trials = 64, seed = 0 }");
      return std::nullopt;
    }
    for (const Entry& entry : entry_.value.table) check_name(entry);
    Search search;
    if (!find("n_trials")) {
      refuse_at(entry_.place, "search has no n_trials, the number of points to draw");
    }
    search.n_trials = integer("n_trials", 1);
    search.seed = static_cast<std::uint64_t>(integer("seed", 0));
    scheduler();
    return ok_ ? std::optional(search) : std::nullopt;
  }

 private:
  const Value* find(std::string_view key) const { return entry_.value.find(key); }

  void check_name(const Entry& entry) {
    const std::vector<std::string> names = {"n_trials", "seed", "scheduler", "grace_period",
                                            "reduction_factor"};
    if (std::ranges::find(names, entry.key) != names.end()) return;
    refuse_at(entry.place, unknown_key(entry.key, names, "search"));
  }

  std::int64_t integer(std::string_view key, std::int64_t low) {
    const Value* value = find(key);
    if (!value) return low;
    if (value->type != Value::Type::kInteger || value->integer < low) {
      refuse_at(value->place,
                fmt::format("search.{} is {}; allowed: an integer >= {}", key, value->shown(), low));
    }
    return value->integer;
  }

  // Random search lets every trial run to its end, which is what no scheduler (Ray Tune's "fifo") means.
  void scheduler() {
    const Value* value = find("scheduler");
    const std::string name = value ? value->written : "random";
    if (name == "asha") {
      integer("grace_period", 1);
      integer("reduction_factor", 2);
      refuse_at(value->place,
                "search.scheduler = \"asha\": not yet in this version of shoal; without it every "
                "trial trains to its end");
      return;
    }
    const std::vector<std::string> names = {"random", "fifo", "asha"};
    if (std::ranges::find(names, name) == names.end()) {
      refuse_at(value->place, fmt::format("search.scheduler is {}", value->shown()) +
                                  data::allowed_and_nearest(name, names));
      return;
    }
    for (const char* key : {"grace_period", "reduction_factor"}) {
      if (find(key)) refuse_at(find(key)->place, fmt::format("search.{} needs scheduler = \"asha\"", key));
    }
  }

  void refuse(const Value& value, std::string_view allowed) {
    refuse_at(value.place, fmt::format("search is {}; {}", value.shown(), allowed));
  }
  void refuse_at(const Place& place, std::string what) {
    problems_.add(place, std::move(what));
    ok_ = false;
  }

  const Entry& entry_;
  Problems& problems_;
  bool ok_ = true;
};

bool is_known(const Entry& entry, Problems& problems) {
  if (find_job_key(entry.key)) return true;
  problems.add(entry.place, unknown_key(entry.key, job_key_names(), "sweep"));
  return false;
}

std::vector<Axis> grid(const std::vector<std::pair<std::string, Distribution>>& sweep) {
  std::vector<Axis> axes;
  for (const auto& [key, distribution] : sweep) {
    Axis axis{key, {}};
    for (const Value& value : distribution.choices) axis.points.push_back({{key, value.place, value}});
    axes.push_back(std::move(axis));
  }
  return axes;
}

Axis draws(const std::vector<std::pair<std::string, Distribution>>& sweep, const Search& search) {
  Axis axis{"trial", {}};
  // One more than may be, so that who multiplies the axes sees it.
  const std::int64_t trials = std::min(search.n_trials, static_cast<std::int64_t>(kMostJobs) + 1);
  for (std::int64_t trial = 0; trial < trials; ++trial) {
    Table point;
    for (const auto& [key, distribution] : sweep) {
      point.push_back({key, distribution.place, distribution.draw(key, search.seed, trial)});
    }
    axis.points.push_back(std::move(point));
  }
  return axis;
}

}  // namespace

std::vector<Axis> sweep_axes(const JobBlock& block, Problems& problems) {
  std::vector<std::pair<std::string, Distribution>> sweep;
  for (const Entry& entry : block.sweep) {
    if (!is_known(entry, problems)) continue;
    const auto distribution = read_distribution(entry, problems);
    if (!distribution) continue;
    if (distribution->kind != Distribution::Kind::kChoice && !block.search) {
      problems.add(
          entry.place,
          fmt::format("sweep.{} draws from a range, which needs a search = {{ n_trials = N }}", entry.key));
      continue;
    }
    sweep.emplace_back(entry.key, *distribution);
  }
  if (!block.search) return grid(sweep);
  const auto search = SearchReader(*block.search, problems).read();
  if (block.sweep.empty()) {
    problems.add(block.search->place, "search has nothing to draw: the [[job]] has no sweep");
  }
  if (!search || sweep.empty()) return {};
  return {draws(sweep, *search)};
}

}  // namespace shoal::engine::config
