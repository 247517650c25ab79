#include "engine/config/check_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "data/text_error.h"
#include "engine/config/scheduler_kwargs.h"
#include "engine/config/templates.h"
#include "engine/metric_names.h"

namespace shoal::engine::config {
namespace {

class JobRules {
 public:
  JobRules(const RawJob& raw, const JobSpec& job, Problems& problems)
      : raw_(raw), job_(job), problems_(problems) {}

  void required(const std::string& key) const {
    if (!given(key))
      problems_.add(raw_.place, fmt::format("job {} has no {}", data::in_quotes(job_.name), key));
  }

  void evaluation() const {
    if (given("validation_file") || given("validation_split_percentage") || given("folds")) return;
    constexpr std::string_view kRows = "a validation_file, validation_split_percentage or folds";
    for (const char* key : {"load_best_model_at_end", "early_stopping_patience"}) {
      if (is_on(key)) problem(key, fmt::format("{} needs {}", key, kRows));
    }
    if (job_.eval_strategy.value_or(Strategy::kNo) != Strategy::kNo) {
      problem("eval_strategy", fmt::format("eval_strategy needs {}; allowed without: no", kRows));
    }
  }

  // One source of rows to evaluate on.
  void evaluation_rows() const {
    for (const char* other : {"validation_file", "validation_split_percentage"}) {
      if (given("folds") && given(other)) {
        problem(other,
                fmt::format("{} and folds: a fold is evaluated on its own part of train_file; remove one "
                            "of the two",
                            other));
      }
    }
    if (given("validation_file") && given("validation_split_percentage")) {
      problem(
          "validation_split_percentage",
          "validation_split_percentage and validation_file: there are rows to evaluate on already; remove "
          "one of the two");
    }
  }

  // What Trainer's EarlyStoppingCallback asserts.
  void early_stopping() const {
    if (job_.early_stopping_patience && job_.eval_strategy == Strategy::kNo) {
      problem("early_stopping_patience",
              "early_stopping_patience needs evaluations, but eval_strategy is 'no'");
    }
    if (job_.early_stopping_threshold > 0 && !job_.early_stopping_patience) {
      problem("early_stopping_threshold", "early_stopping_threshold needs early_stopping_patience");
    }
  }

  void metric() const {
    const std::vector<std::string> names = is_regression(job_) ? regression_metric_names() : metric_names(2);
    const std::string& name = job_.metric_for_best_model;
    if (name.empty() || std::ranges::find(names, name) != names.end()) return;
    problem("metric_for_best_model",
            fmt::format("metric_for_best_model is {}, which a {} does not have", data::in_quotes(name),
                        is_regression(job_) ? "regression" : "classification") +
                data::allowed_and_nearest("", names));
  }

  void regression() const {
    if (is_regression(job_) && job_.label_smoothing_factor > 0) {
      problem("label_smoothing_factor",
              "label_smoothing_factor spreads over classes, but problem_type is 'regression'");
    }
  }

  void best_model() const {
    if (job_.load_best_model_at_end && job_.eval_strategy == Strategy::kNo) {
      problem("load_best_model_at_end",
              "load_best_model_at_end needs evaluations, but eval_strategy is 'no'");
    }
  }

  // Without a header row there are no names to find a column by; JSONL has names and no header.
  void columns() const {
    const std::string extension = job_.train_file.extension().string();
    if (job_.header || extension == ".jsonl" || extension == ".json") return;
    const auto by_number = [&](const std::string& key, const data::Column& column) {
      if (column.number > 0) return;
      problem(
          given(key) ? key : "header",
          fmt::format("{} is {}, but header = false leaves no names; allowed: the column's number, from 1",
                      key, data::in_quotes(column.name)));
    };
    by_number("text", job_.text);
    if (job_.text_pair) by_number("text_pair", *job_.text_pair);
    by_number("label", job_.label);
  }

  void lengths() const {
    if (job_.text_pair && job_.max_seq_length < 4) {
      problem("max_seq_length", "max_seq_length is 3; allowed with a text_pair: >= 4");
    }
    if (job_.micro_tokens && *job_.micro_tokens < job_.max_seq_length) {
      problem("micro_tokens", fmt::format("micro_tokens is {}; allowed: >= max_seq_length, which is {}",
                                          *job_.micro_tokens, job_.max_seq_length));
    }
  }

 private:
  bool given(const std::string& key) const { return raw_.values.contains(key); }
  bool is_on(std::string_view key) const {
    return key == "load_best_model_at_end" ? job_.load_best_model_at_end
                                           : job_.early_stopping_patience.has_value();
  }

  void problem(const std::string& key, std::string what) const {
    const auto found = raw_.values.find(key);
    problems_.add(found == raw_.values.end() ? raw_.place : found->second.place, std::move(what));
  }

  const RawJob& raw_;
  const JobSpec& job_;
  Problems& problems_;
};

const Place& name_place(const RawJob& job) {
  return job.values.at("name").place;
}

// What would tell the jobs of one [[job]] apart; nothing where the name has it already (and --set has made
// all values one).
std::string hint(const RawJob& job) {
  std::string templates;
  for (const std::string& label : job.labels) {
    if (holds_template(job.values.at("name").written, label)) continue;
    templates += (templates.empty() ? "" : "-") + fmt::format("{{{}}}", label);
  }
  return templates.empty() ? "" : fmt::format("; a name with {} would tell them apart", templates);
}

// "seed=1, fold=0": in what `job` differs from another job of its [[job]].
std::string differences(const RawJob& job, const RawJob& other) {
  std::string out;
  const auto add = [&](const std::string& name, const std::string& own, const std::string& others) {
    if (own != others) out += fmt::format("{}{}={}", out.empty() ? "" : ", ", name, own);
  };
  const auto text = [](const RawJob& of, const std::string& name) {
    const Value* value = of.find(name);
    return value ? value->compact() : std::string();
  };
  for (const std::string& name : job.varied) add(name, text(job, name), text(other, name));
  add("fold", fmt::format("{}", job.fold.value_or(-1)), fmt::format("{}", other.fold.value_or(-1)));
  return out;
}

std::string both(const RawJob& job, const RawJob& other) {
  if (other.place != job.place) {
    return fmt::format("the job of {} and that of {}", other.place.text(), job.place.text());
  }
  const std::string first = differences(other, job);
  return "two jobs of one [[job]]" +
         (first.empty() ? first : fmt::format(" ({} and {})", first, differences(job, other)));
}

}  // namespace

void check_job(const RawJob& raw, const JobSpec& job, Problems& problems) {
  const JobRules rules(raw, job, problems);
  rules.required("model");
  rules.required("train_file");
  rules.evaluation();
  rules.evaluation_rows();
  rules.early_stopping();
  rules.metric();
  rules.regression();
  rules.best_model();
  rules.columns();
  rules.lengths();
  check_scheduler_kwargs(raw, job, problems);
}

void check_names(std::span<const RawJob> jobs, std::span<const std::string> names, Problems& problems) {
  std::map<std::string, std::size_t> first;
  std::set<std::pair<std::string, Place>> told;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (names[i].empty()) continue;
    const auto [found, is_new] = first.try_emplace(names[i], i);
    if (is_new) continue;
    const RawJob& other = jobs[found->second];
    if (!told.emplace(names[i], jobs[i].place).second) continue;  // of many alike, two say it all
    problems.add(name_place(jobs[i]), fmt::format("{} have the name {}{}", both(jobs[i], other),
                                                  data::in_quotes(names[i]), hint(jobs[i])));
  }
  for (const auto& [name, index] : first) {
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
      const auto outer = first.find(name.substr(0, slash));
      if (outer == first.end()) continue;
      problems.add(
          name_place(jobs[index]),
          fmt::format("the folder of job {} would lie inside that of job {} ({})", data::in_quotes(name),
                      data::in_quotes(outer->first), jobs[outer->second].place.text()));
    }
  }
}

}  // namespace shoal::engine::config
