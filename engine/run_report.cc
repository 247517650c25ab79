#include "engine/run_report.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "data/atomic_file.h"
#include "engine/metrics.h"
#include "engine/regression_metrics.h"
#include "engine/result_means.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

using Json = nlohmann::ordered_json;

// Columns of the table in order, and what a job has in them; what it lacks stays empty.
class ResultTable {
 public:
  std::string header() const {
    return line([](const std::string& column) { return column; });
  }
  std::string row(const std::map<std::string, std::string>& cells) const {
    return line([&](const std::string& column) {
      const auto cell = cells.find(column);
      return cell == cells.end() ? std::string() : cell->second;
    });
  }

  std::vector<std::string> columns;

 private:
  // libcsv quotes whatever it is given; plain fields stay readable without.
  static std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted(csv_write(nullptr, 0, text.data(), text.size()), '\0');
    csv_write(quoted.data(), quoted.size(), text.data(), text.size());
    return quoted;
  }

  template <typename CellOf>
  std::string line(const CellOf& cell_of) const {
    std::string text;
    for (const std::string& column : columns) {
      if (&column != &columns.front()) text += ',';
      text += field(cell_of(column));
    }
    return text + "\r\n";
  }
};

std::string variable_column(const std::string& key, const std::vector<std::string>& others) {
  return std::ranges::find(others, key) == others.end() ? key : "variable_" + key;
}

// All metrics of all jobs, in the order they are printed in; what only some jobs measure keeps its place.
std::vector<std::string> metric_columns(const std::vector<JobResult>& results, std::string_view prefix,
                                        const Metrics JobResult::*metrics) {
  std::vector<std::string> known = metric_names(2);
  for (const std::string& name : regression_metric_names())
    if (std::ranges::find(known, name) == known.end()) known.push_back(name);
  std::set<std::string> measured;
  for (const JobResult& result : results) {
    for (const auto& [name, value] : result.*metrics) {
      measured.insert(name);
      if (std::ranges::find(known, name) == known.end()) known.push_back(name);
    }
  }
  std::vector<std::string> columns;
  for (const std::string& name : known) {
    if (measured.contains(name)) columns.push_back(fmt::format("{}{}", prefix, name));
  }
  return columns;
}

// The sign of a NaN means nothing here.
std::string number(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

void put_result(const JobResult& result, Cells& cells) {
  cells["status"] = status_name(result.status);
  cells["reason"] = result.reason;
  for (const auto& [name, value] : result.best) cells["best_" + name] = number(value);
  for (const auto& [name, value] : result.last) cells["eval_" + name] = number(value);
  for (const auto& [name, value] : result.test) cells["test_" + name] = number(value);
  if (!result.best.empty()) cells["best_epoch"] = number(result.best_epoch);
  cells["updates"] = fmt::format("{}", result.updates);
  cells["tokens"] = fmt::format("{}", result.tokens);
  cells["seconds"] = fmt::format("{:.3f}", result.seconds);
  cells["card_seconds"] = fmt::format("{:.3f}", result.card_seconds);
  cells["folder"] = result.folder.string();
}

void put_shares(const FleetSpec& fleet, const std::vector<JobResult>& results, std::vector<Cells>& rows) {
  double all = 0;
  for (const JobResult& result : results) all += result.card_seconds;
  for (const JobResult& result : results) {
    Cells& cells = rows[static_cast<std::size_t>(result.job)];
    if (all > 0) cells["share"] = fmt::format("{:.4f}", result.card_seconds / all);
    if (fleet.price_per_hour)
      cells["cost"] = fmt::format("{:.6f}", result.card_seconds / 3600 * *fleet.price_per_hour);
  }
}

}  // namespace

std::string_view status_name(JobStatus status) {
  switch (status) {
    case JobStatus::kQueued:
      return "queued";
    case JobStatus::kTraining:
      return "training";
    case JobStatus::kEvaluating:
      return "evaluating";
    case JobStatus::kDone:
      return "done";
    case JobStatus::kFailed:
      return "failed";
    case JobStatus::kStopped:
      return "stopped";
  }
  SHOAL_CHECK(false);
}

MetricsLog::MetricsLog(const std::filesystem::path& file)
    : path_(file), out_(file, std::ios::binary | std::ios::app) {
  require(out_.is_open(), "{}: cannot be written: {}", path_.string(), std::strerror(errno));
}

void MetricsLog::progress(const JobProgress& progress) {
  const Json line = {{"update", progress.update},
                     {"epoch", progress.epoch},
                     {"loss", progress.loss},
                     {"grad_norm", progress.grad_norm},
                     {"learning_rate", progress.learning_rate},
                     {"tokens", progress.tokens},
                     {"seconds", progress.seconds}};
  write(line.dump());
}

void MetricsLog::evaluation(double epoch, std::int64_t update, const Metrics& metrics) {
  measured("eval_", epoch, update, metrics);
}

void MetricsLog::test(double epoch, std::int64_t update, const Metrics& metrics) {
  measured("test_", epoch, update, metrics);
}

void MetricsLog::measured(const char* prefix, double epoch, std::int64_t update, const Metrics& metrics) {
  Json line = {{"update", update}, {"epoch", epoch}};
  for (const auto& [name, value] : metrics) line[prefix + name] = value;
  write(line.dump());
}

void MetricsLog::write(const std::string& line) {
  out_ << line << '\n' << std::flush;
  require(out_.good(), "{}: cannot be written: {}", path_.string(), std::strerror(errno));
}

void write_results(const std::filesystem::path& file, const FleetSpec& fleet,
                   const std::vector<JobResult>& results, const std::vector<JobSpec>& gone) {
  std::vector<std::string> own = {"name", "status", "reason"}, numbers;
  for (const auto& [prefix, metrics] :
       {std::pair("best_", &JobResult::best), std::pair("eval_", &JobResult::last),
        std::pair("test_", &JobResult::test)}) {
    const std::vector<std::string> columns = metric_columns(results, prefix, metrics);
    numbers.insert(numbers.end(), columns.begin(), columns.end());
  }
  numbers.insert(numbers.end(), {"best_epoch", "updates", "tokens", "seconds", "card_seconds", "share"});
  if (fleet.price_per_hour) numbers.push_back("cost");
  own.insert(own.end(), numbers.begin(), numbers.end());
  own.push_back("folder");

  std::vector<const JobSpec*> jobs;
  for (const std::vector<JobSpec>* some : {&fleet.jobs, &gone})
    for (const JobSpec& job : *some) jobs.push_back(&job);
  std::set<std::string> variables;
  std::vector<Cells> rows(jobs.size());
  for (std::size_t j = 0; j < rows.size(); ++j) {
    put_result({.status = JobStatus::kQueued}, rows[j]);
    rows[j]["name"] = jobs[j]->name;
    for (const auto& [key, value] : jobs[j]->variables) {
      const std::string column = variable_column(key, own);
      variables.insert(column);
      rows[j][column] = value;
    }
  }
  for (const JobResult& result : results) {
    SHOAL_CHECK(result.job >= 0 && result.job < static_cast<std::int64_t>(rows.size()));
    put_result(result, rows[static_cast<std::size_t>(result.job)]);
  }
  put_shares(fleet, results, rows);
  append_means(fleet.jobs, {variables.begin(), variables.end()}, numbers, rows);

  ResultTable table{own};
  table.columns.insert(table.columns.begin() + 1, variables.begin(), variables.end());
  std::string text = table.header();
  for (const Cells& cells : rows) text += table.row(cells);
  data::write_atomically(file, text);
}

}  // namespace shoal::engine
