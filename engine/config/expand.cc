#include "engine/config/expand.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/text_error.h"
#include "engine/config/axes.h"
#include "engine/config/folds.h"
#include "engine/config/foreign_keys.h"
#include "engine/config/keys.h"
#include "engine/config/templates.h"

namespace shoal::engine::config {
namespace {

void lay_over(const Table& keys, RawJob& job) {
  for (const Entry& entry : keys) job.values[entry.key] = entry.value;
}

// The section of that name; nullptr, with a problem, where there is none.
const Table* find_section(const std::map<std::string, Table>& sections, std::string_view kind,
                          std::string_view form, const Value& name, Problems& problems) {
  const auto found = sections.find(name.written);
  if (found != sections.end()) return &found->second;
  std::vector<std::string> names;
  for (const auto& [known, unused] : sections) names.push_back(known);
  problems.add(name.place, fmt::format("unknown {} {}", kind, data::in_quotes(name.written)) +
                               (names.empty() ? fmt::format("; there is no {} in the file", form)
                                              : data::allowed_and_nearest(name.written, names)));
  return nullptr;
}

// What all jobs of a block have in common.
RawJob base_of(const JobBlock& block, const Sections& sections, Problems& problems) {
  RawJob job;
  job.place = block.place;
  lay_over(sections.defaults, job);
  if (block.trunk) {
    if (const Table* keys = find_section(sections.trunks, "trunk", "[[trunk]]", *block.trunk, problems)) {
      lay_over(*keys, job);
    }
  }
  for (const Value& name : block.use.value_or(sections.use.value_or(Use{}))) {
    if (const Table* keys = find_section(sections.presets, "preset", "[preset.NAME]", name, problems)) {
      lay_over(*keys, job);
    }
  }
  lay_over(block.keys, job);
  if (block.head) {
    if (!block.trunk) problems.add(block.head->place, "head needs a trunk");
    job.variables["head"] = *block.head;
  }
  return job;
}

bool mentions(const Value& value, const std::string& name) {
  if (value.type == Value::Type::kText) return holds_template(value.written, name);
  return std::ranges::any_of(value.items, [&](const Value& item) { return mentions(item, name); }) ||
         std::ranges::any_of(value.table, [&](const Entry& entry) { return mentions(entry.value, name); });
}

// A variable that no text takes up is most likely a misspelt key: its jobs would all train the same.
void refuse_idle_variables(const JobBlock& block, const RawJob& base, Problems& problems) {
  const auto is_used = [&](const std::string& name) {
    for (const auto& [key, value] : base.values) {
      if (key != "name" && mentions(value, name)) return true;
    }
    const auto in_entry = [&](const Entry& entry) { return mentions(entry.value, name); };
    return std::ranges::any_of(block.each, in_entry) || std::ranges::any_of(block.sweep, in_entry);
  };
  for (const Entry& entry : block.each) {
    const bool is_csv = entry.value.type == Value::Type::kTable;
    if (is_csv || find_job_key(entry.key) || is_used(entry.key)) continue;
    std::string what = fmt::format(
        "each.{0} changes no job but its name: {0} is no key, and no other text holds {{{0}}}", entry.key);
    if (const std::string_view answer = foreign_key_answer(entry.key); !answer.empty()) {
      what += fmt::format("; {}", answer);
    } else if (const std::string near = data::nearest_name(entry.key, job_key_names()); !near.empty()) {
      what += fmt::format("; did you mean '{}'?", near);
    }
    problems.add(entry.place, what);
  }
}

// Names that the axes set; a name of two axes is a problem.
std::vector<std::string> varied_names(const std::vector<Axis>& axes, const Place& place, Problems& problems) {
  std::vector<std::string> names;
  for (const Axis& axis : axes) {
    std::vector<std::string> own;
    for (const Table& point : axis.points) {
      for (const Entry& entry : point) {
        if (std::ranges::find(own, entry.key) == own.end()) own.push_back(entry.key);
      }
    }
    for (const std::string& name : own) {
      if (std::ranges::find(names, name) != names.end()) {
        problems.add(place, fmt::format("{} varies twice in this [[job]]", name));
      } else {
        names.push_back(name);
      }
    }
  }
  return names;
}

// Product of the axes' sizes, or a number above `most` where it is larger.
std::size_t count_points(std::span<const Axis> axes, std::size_t most) {
  std::size_t points = 1;
  for (const Axis& axis : axes) {
    if (axis.points.size() > most / points) return most + 1;
    points *= axis.points.size();
  }
  return points;
}

void set_point(const Table& point, RawJob& job) {
  for (const Entry& entry : point) {
    (find_job_key(entry.key) ? job.values : job.variables)[entry.key] = entry.value;
  }
}

void expand_block(const JobBlock& block, const Sections& sections, const Context& context,
                  std::vector<RawJob>& jobs, Problems& problems) {
  RawJob base = base_of(block, sections, problems);
  std::vector<Axis> axes = each_axes(block, context, problems);
  const std::size_t n_each = axes.size();
  if (n_each < block.each.size()) return;  // every text with such a variable would be blamed too
  refuse_idle_variables(block, base, problems);
  for (Axis& axis : sweep_axes(block, problems)) axes.push_back(std::move(axis));
  base.is_drawn = block.search.has_value();
  base.varied = varied_names(axes, block.place, problems);
  for (const Axis& axis : axes) base.labels.push_back(axis.label);

  const std::size_t points = count_points(axes, kMostJobs);
  if (points > kMostJobs - jobs.size()) {
    problems.add(block.place, fmt::format("more than {} jobs in all with this [[job]]", kMostJobs));
    return;
  }
  const std::size_t trials = count_points(std::span(axes).subspan(n_each), kMostJobs);
  for (std::size_t index = 0; index < points; ++index) {
    RawJob job = base;
    job.trial = static_cast<std::int64_t>(index % trials);
    std::size_t rest = index;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      set_point(axis->points[rest % axis->points.size()], job);
      rest /= axis->points.size();
    }
    jobs.push_back(std::move(job));
  }
}

}  // namespace

const Value* RawJob::find(const std::string& name) const {
  for (const auto* map : {&values, &variables}) {
    if (const auto found = map->find(name); found != map->end()) return &found->second;
  }
  return nullptr;
}

std::vector<RawJob> expand(const Sections& sections, std::span<const TypedKey> typed, const Context& context,
                           Problems& problems) {
  std::vector<RawJob> jobs;
  for (const JobBlock& block : sections.jobs) expand_block(block, sections, context, jobs, problems);
  for (const TypedKey& key : typed) {
    if (key.scope != TypedKey::Scope::kAllJobs) continue;
    for (RawJob& job : jobs) job.values[key.key] = key.value;
  }
  split_folds(jobs, problems);
  return jobs;
}

}  // namespace shoal::engine::config
