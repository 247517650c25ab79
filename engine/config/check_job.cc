#include "engine/config/check_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "data/text_error.h"

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
    if (given("validation_file")) return;
    if (job_.load_best_model_at_end) {
      problem("load_best_model_at_end", "load_best_model_at_end needs a validation_file");
    }
    if (job_.eval_strategy.value_or(Strategy::kNo) != Strategy::kNo) {
      problem("eval_strategy", "eval_strategy needs a validation_file; allowed without: no");
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

// What would tell the jobs of one sweep apart; nothing where the name has it already (and --set has made
// all values one).
std::string hint(const RawJob& job) {
  std::string templates;
  for (const std::string& key : job.swept) {
    const std::string name = fmt::format("{{{}}}", key);
    if (job.values.at("name").written.find(name) != std::string::npos) continue;
    templates += (templates.empty() ? "" : "-") + name;
  }
  return templates.empty() ? "" : fmt::format("; a name with {} would tell them apart", templates);
}

}  // namespace

void check_job(const RawJob& raw, const JobSpec& job, Problems& problems) {
  const JobRules rules(raw, job, problems);
  rules.required("model");
  rules.required("train_file");
  rules.evaluation();
  rules.best_model();
  rules.columns();
  rules.lengths();
}

void check_names(std::span<const RawJob> jobs, std::span<const std::string> names, Problems& problems) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (names[i].empty()) continue;
    const auto [found, is_new] = first.try_emplace(names[i], i);
    if (is_new) continue;
    const RawJob& other = jobs[found->second];
    const std::string where =
        other.place == jobs[i].place
            ? "two jobs of one [[job]]"
            : fmt::format("the job of {} and that of {}", other.place.text(), jobs[i].place.text());
    problems.add(name_place(jobs[i]),
                 fmt::format("{} have the name {}{}", where, data::in_quotes(names[i]), hint(jobs[i])));
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
