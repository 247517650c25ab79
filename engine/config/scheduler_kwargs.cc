#include "engine/config/scheduler_kwargs.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/text_error.h"

namespace shoal::engine::config {
namespace {

struct Setting {
  Scheduler scheduler;
  std::string schedule;
  std::string name;
  Range range;
  bool is_count = false;  // of updates
};

// transformers' signatures; where it takes a number that makes no schedule (a rate below 0, no cycle at all),
// the range is ours.
const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = {
      {Scheduler::kCosine, "cosine", "num_cycles", above(0)},
      {Scheduler::kCosineWithRestarts, "cosine_with_restarts", "num_cycles", above(0)},
      {Scheduler::kCosineWithMinLr, "cosine_with_min_lr", "num_cycles", above(0)},
      {Scheduler::kCosineWithMinLr, "cosine_with_min_lr", "min_lr", at_least(0)},
      {Scheduler::kCosineWithMinLr, "cosine_with_min_lr", "min_lr_rate", from_to_below(0, 1)},
      {Scheduler::kPolynomial, "polynomial", "lr_end", at_least(0)},
      {Scheduler::kPolynomial, "polynomial", "power", above(0)},
      {Scheduler::kInverseSqrt, "inverse_sqrt", "timescale", above(0)},
      {Scheduler::kWarmupStableDecay, "warmup_stable_decay", "num_decay_steps", at_least(0), true},
      {Scheduler::kWarmupStableDecay, "warmup_stable_decay", "num_stable_steps", at_least(0), true},
      {Scheduler::kWarmupStableDecay, "warmup_stable_decay", "min_lr_ratio", from_to_below(0, 1)},
      {Scheduler::kWarmupStableDecay, "warmup_stable_decay", "num_cycles", above(0)},
  };
  return all;
}

constexpr double kLrEnd = 1e-7;  // of a polynomial schedule, where it is not given

// Of warmup_stable_decay, and texts: only transformers' defaults exist.
std::string_view only_form(std::string_view name) {
  return name == "warmup_type" ? "linear" : name == "decay_type" ? "cosine" : "";
}

class KwargsRules {
 public:
  KwargsRules(const Value& kwargs, const JobSpec& job, Problems& problems)
      : kwargs_(kwargs), job_(job), problems_(problems) {}

  void check() {
    for (const Entry& entry : kwargs_.table) check_entry(entry);
    if (job_.lr_scheduler_type == Scheduler::kCosineWithMinLr && !has("min_lr") == !has("min_lr_rate")) {
      problem(kwargs_.place,
              "lr_scheduler_kwargs of cosine_with_min_lr must hold one of min_lr and min_lr_rate");
    }
    if (job_.lr_scheduler_type == Scheduler::kPolynomial && !has("lr_end") && job_.learning_rate <= kLrEnd) {
      problem(kwargs_.place,
              fmt::format("a polynomial schedule falls to lr_end = {0}; allowed: a learning_rate above "
                          "it, or lr_scheduler_kwargs with another lr_end",
                          number_text(kLrEnd)));
    }
    if (job_.lr_scheduler_type == Scheduler::kWarmupStableDecay && !has("num_decay_steps")) {
      problem(kwargs_.place, "lr_scheduler_kwargs of warmup_stable_decay must hold num_decay_steps");
    }
  }

 private:
  bool has(std::string_view name) const { return kwargs_.find(name) != nullptr; }

  void check_entry(const Entry& entry) {
    const bool has_forms = job_.lr_scheduler_type == Scheduler::kWarmupStableDecay;
    std::vector<std::string> names;
    for (const Setting& setting : settings()) {
      if (setting.scheduler != job_.lr_scheduler_type) continue;
      if (setting.name == entry.key) return check_number(entry, setting);
      names.push_back(setting.name);
    }
    if (has_forms && !only_form(entry.key).empty()) return check_form(entry);
    problem(entry.place,
            fmt::format("lr_scheduler_kwargs.{} does not belong to the job's lr_scheduler_type", entry.key) +
                (names.empty() ? "; allowed: none" : data::allowed_and_nearest(entry.key, names)));
  }

  void check_number(const Entry& entry, const Setting& setting) {
    const Value& value = entry.value;
    const bool has_type = setting.is_count ? value.type == Value::Type::kInteger : value.is_number();
    if (!has_type || !setting.range.holds(value.real)) {
      problem(value.place,
              fmt::format("lr_scheduler_kwargs.{} is {}; allowed: {} {}", entry.key, value.shown(),
                          setting.is_count ? "an integer" : "a number", setting.range.text));
    } else if ((entry.key == "min_lr" || entry.key == "lr_end") && value.real >= job_.learning_rate) {
      problem(value.place,
              fmt::format("lr_scheduler_kwargs.{} is {}; allowed: below learning_rate, which is {}",
                          entry.key, value.shown(), number_text(job_.learning_rate)));
    }
  }

  void check_form(const Entry& entry) {
    const std::string_view only = only_form(entry.key);
    if (entry.value.type == Value::Type::kText && entry.value.written == only) return;
    problem(entry.value.place,
            fmt::format("lr_scheduler_kwargs.{} = {}: not yet in this version of shoal; allowed: {}",
                        entry.key, entry.value.shown(), only));
  }

  void problem(const Place& place, std::string what) { problems_.add(place, std::move(what)); }

  const Value& kwargs_;
  const JobSpec& job_;
  Problems& problems_;
};

}  // namespace

std::string scheduler_kwargs_text() {
  std::string out;
  std::string schedule;
  for (const Setting& setting : settings()) {
    if (setting.schedule == schedule) {
      out += ", " + setting.name;
      continue;
    }
    schedule = setting.schedule;
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", schedule, setting.name);
  }
  return out;
}

Binding<JobSpec> scheduler_kwargs() {
  return {"a table such as { num_cycles = 2 }",
          {},
          {},
          [](JobSpec& job, const Value& value, const Context&) {
            if (value.type != Value::Type::kTable) return false;
            // Whether the names and numbers are good is seen when the schedule is known.
            for (const Entry& entry : value.table) {
              if (entry.value.is_number()) job.lr_scheduler_kwargs[entry.key] = entry.value.real;
            }
            return true;
          },
          [](const JobSpec& job) {
            std::string out;
            for (const auto& [name, value] : job.lr_scheduler_kwargs) {
              out += fmt::format("{}{} = {}", out.empty() ? "{ " : ", ", name, count_text(value));
            }
            return out.empty() ? out : out + " }";
          }};
}

void check_scheduler_kwargs(const RawJob& raw, const JobSpec& job, Problems& problems) {
  const auto found = raw.values.find("lr_scheduler_kwargs");
  const bool is_given = found != raw.values.end() && found->second.type == Value::Type::kTable;
  Value none;
  none.place = raw.place;
  if (const auto type = raw.values.find("lr_scheduler_type"); type != raw.values.end())
    none.place = type->second.place;
  KwargsRules(is_given ? found->second : none, job, problems).check();
}

}  // namespace shoal::engine::config
