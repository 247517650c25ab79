#include "engine/config/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "data/text_error.h"
#include "engine/config/axes.h"
#include "engine/config/special_bindings.h"

namespace shoal::engine::config {
namespace {

struct Folds {
  std::int64_t n = 0;
  std::int64_t repeats = 1;
  std::uint64_t seed = 0;
  std::optional<data::Column> group;
  std::optional<std::int64_t> only;

  std::int64_t count() const { return n * repeats; }
};

std::int64_t integer_in(const Value& value, std::string_view name, std::int64_t low, std::int64_t high) {
  const bool fits = value.type == Value::Type::kInteger && value.integer >= low && value.integer <= high;
  require(fits, "folds.{} is {}; allowed: an integer from {} to {}", name, value.shown(), low, high);
  return value.integer;
}

void read_part(const std::string& key, const Value& value, Folds& folds) {
  constexpr auto kMost = static_cast<std::int64_t>(kMostJobs);
  if (key == "n") {
    folds.n = integer_in(value, "n", 2, kMost);
  } else if (key == "repeats") {
    folds.repeats = integer_in(value, "repeats", 1, kMost);
  } else if (key == "seed") {
    folds.seed =
        static_cast<std::uint64_t>(integer_in(value, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  } else if (key == "only") {
    folds.only = integer_in(value, "only", 0, kMost);
  } else if (key == "group") {
    const auto column = column_of(value);
    require(column.has_value(), "folds.group is {}; allowed: a column's name, or its number from 1",
            value.shown());
    folds.group = column;
  } else {
    const std::vector<std::string> names = {"n", "group", "repeats", "seed", "only"};
    throw Error(fmt::format("unknown key {} in folds", data::in_quotes(key)) +
                data::allowed_and_nearest(key, names));
  }
}

Folds read_folds(const Value& value) {
  constexpr auto kMost = static_cast<std::int64_t>(kMostJobs);
  Folds folds;
  if (value.type == Value::Type::kTable) {
    for (const Entry& entry : value.table) read_part(entry.key, entry.value, folds);
    require(folds.n > 0, "folds has no n, their number");
  } else {
    require(
        value.type == Value::Type::kInteger && value.integer >= 2 && value.integer <= kMost,
        "folds is {}; allowed: an integer >= 2, or {{ n = 5, group = \"COLUMN\", repeats = 1, seed = 0 }}",
        value.shown());
    folds.n = value.integer;
  }
  require(folds.repeats <= kMost / folds.n, "folds: more than {} folds", kMost);
  require(!folds.only || *folds.only < folds.count(), "folds.only is {}; allowed: a fold from 0 to {}",
          folds.only.value_or(0), folds.count() - 1);
  return folds;
}

// The value with `only` set, whatever form it had.
Value with_only(const Value& value, std::int64_t fold) {
  Value out = value;
  if (value.type != Value::Type::kTable) {
    out = {};
    out.type = Value::Type::kTable;
    out.place = value.place;
    out.table.push_back({"n", value.place, value});
  }
  std::erase_if(out.table, [](const Entry& entry) { return entry.key == "only"; });
  out.table.push_back({"only", value.place, integer_value(fold, value.place)});
  return out;
}

}  // namespace

void split_folds(std::vector<RawJob>& jobs, Problems& problems) {
  std::vector<RawJob> out;
  for (RawJob& job : jobs) {
    const auto found = job.values.find("folds");
    if (found == job.values.end()) {
      out.push_back(std::move(job));
      continue;
    }
    const Value value = found->second;
    try {
      const Folds folds = read_folds(value);
      const std::int64_t first = folds.only.value_or(0);
      const std::int64_t end = folds.only ? first + 1 : folds.count();
      require(static_cast<std::size_t>(end - first) + out.size() <= kMostJobs,
              "folds: more than {} jobs in all", kMostJobs);
      job.labels.push_back("fold");
      for (std::int64_t fold = first; fold < end; ++fold) {
        out.push_back(job);
        out.back().fold = fold;
        out.back().values["folds"] = with_only(value, fold);
      }
    } catch (const Error& error) {
      problems.add(value.place, error.what());
      job.values.erase(found);
      job.fold = 0;  // its templates are not to be blamed too
      out.push_back(std::move(job));
    }
  }
  jobs = std::move(out);
}

Binding<JobSpec> folds() {
  return {"an integer >= 2, or { n, group, repeats, seed, only }",
          {},
          {},
          [](JobSpec& job, const Value& value, const Context&) {
            const Folds folds = read_folds(value);
            if (!folds.only) return false;
            job.fold = Fold{.fold = *folds.only, .n = folds.n, .seed = folds.seed, .group = folds.group};
            return true;
          },
          [](const JobSpec& job) {
            if (!job.fold) return std::string();
            const Fold& fold = *job.fold;
            std::string out = fmt::format("{{ n = {}", fold.n);
            if (fold.group) out += ", group = " + column_toml(*fold.group);
            if (fold.fold >= fold.n) out += fmt::format(", repeats = {}", fold.fold / fold.n + 1);
            return out + fmt::format(", seed = {}, only = {} }}", fold.seed, fold.fold);
          }};
}

}  // namespace shoal::engine::config
