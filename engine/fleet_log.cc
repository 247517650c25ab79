#include "engine/fleet_log.h"

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/event_json.h"
#include "engine/run_report.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

using Json = nlohmann::ordered_json;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

FleetLog::FleetLog(const std::filesystem::path& file, const FleetSpec& fleet, Observer& next)
    : path_(file),
      out_(file, std::ios::binary | std::ios::app),
      fleet_(fleet),
      next_(next),
      told_(fleet.jobs.size()) {
  require(out_.is_open(), "{}: cannot be written: {}", path_.string(), std::strerror(errno));
}

const std::string& FleetLog::name(std::int64_t job) const {
  return fleet_.jobs.at(static_cast<std::size_t>(job)).name;
}

void FleetLog::write(const char* event, const Json& more) {
  if (!out_.is_open()) return;
  Json line = {{"event", event}, {"time", now()}};
  line.update(more);
  out_ << event_line(line) << '\n' << std::flush;
  if (out_.good()) return;
  out_.close();
  next_.on_note(-1, fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
}

void FleetLog::on_plan(const FleetPlan& plan) {
  Json names = Json::array();
  for (const JobSpec& job : fleet_.jobs) names.push_back(job.name);
  write("plan", {{"version", SHOAL_VERSION},
                 {"device", plan.device},
                 {"file", fleet_.file.string()},
                 {"jobs", plan.jobs},
                 {"slots", plan.slots},
                 {"names", names},
                 {"kept", kept_},
                 {"groups", event_json(plan.groups)},
                 {"data_sets", plan.data_sets},
                 {"rows", plan.rows},
                 {"tokens", plan.tokens}});
  next_.on_plan(plan);
}

void FleetLog::on_note(std::int64_t job, const std::string& note) {
  write("note", {{"job", job < 0 ? Json() : Json(name(job))}, {"note", note}});
  next_.on_note(job, note);
}

void FleetLog::on_job_start(std::int64_t job, std::int64_t slot) {
  write("job_start", {{"job", name(job)}, {"slot", slot}});
  next_.on_job_start(job, slot);
}

void FleetLog::on_progress(const JobProgress& p) {
  const auto time = std::chrono::steady_clock::now();
  auto& told = told_.at(static_cast<std::size_t>(p.job));
  if (time - told >= std::chrono::duration<double>(kProgressSeconds)) {
    told = time;
    write("progress", {{"job", name(p.job)},
                       {"update", p.update},
                       {"updates", p.updates},
                       {"epoch", p.epoch},
                       {"loss", p.loss},
                       {"learning_rate", p.learning_rate},
                       {"tokens", p.tokens},
                       {"seconds", p.seconds}});
  }
  next_.on_progress(p);
}

void FleetLog::on_evaluation(std::int64_t job, double epoch, std::int64_t update, const Metrics& metrics) {
  Json line = {{"job", name(job)}, {"update", update}, {"epoch", epoch}};
  for (const auto& [metric, value] : metrics) line["eval_" + metric] = value;
  write("evaluation", line);
  next_.on_evaluation(job, epoch, update, metrics);
}

void FleetLog::on_job_end(const JobResult& result) {
  write("job_end", {{"job", name(result.job)},
                    {"status", status_name(result.status)},
                    {"reason", result.reason},
                    {"updates", result.updates},
                    {"tokens", result.tokens},
                    {"seconds", result.seconds},
                    {"card_seconds", result.card_seconds},
                    {"best_epoch", result.best_epoch},
                    {"best", event_json(result.best)},
                    {"last", event_json(result.last)},
                    {"test", event_json(result.test)},
                    {"folder", result.folder.string()},
                    {"variables", fleet_.jobs.at(static_cast<std::size_t>(result.job)).variables}});
  next_.on_job_end(result);
}

void FleetLog::run_end(bool stopped) {
  write("run_end", {{"stopped", stopped}});
}

}  // namespace shoal::engine
