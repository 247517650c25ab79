#include "cli/json_view.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "engine/event_json.h"
#include "engine/run_report.h"

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;
using engine::event_json;
using engine::event_line;

}  // namespace

JsonView::JsonView(const engine::FleetSpec& fleet, LineSink sink, Clock clock)
    : fleet_(fleet),
      sink_(std::move(sink)),
      clock_(std::move(clock)),
      last_(fleet.jobs.size(), -std::numeric_limits<double>::infinity()) {}

void JsonView::on_plan(const engine::FleetPlan& plan) {
  sink_(event_line({{"event", "plan"},
                    {"jobs", plan.jobs},
                    {"slots", plan.slots},
                    {"device", plan.device},
                    {"groups", event_json(plan.groups)},
                    {"data_sets", plan.data_sets},
                    {"rows", plan.rows},
                    {"tokens", plan.tokens},
                    {"truncated", plan.truncated},
                    {"unknown", plan.unknown}}));
}

void JsonView::on_note(std::int64_t job, const std::string& line) {
  Json json = {{"event", "note"}};
  if (job >= 0) json["job"] = name(job);
  json["text"] = line;
  sink_(event_line(json));
}

void JsonView::on_job_start(std::int64_t job, std::int64_t slot) {
  sink_(event_line({{"event", "start"}, {"job", name(job)}, {"slot", slot}}));
}

void JsonView::on_progress(const engine::JobProgress& progress) {
  double& last = last_.at(static_cast<std::size_t>(progress.job));
  const double now = clock_();
  if (now - last < 1 && progress.update < progress.updates) return;
  last = now;
  sink_(event_line({{"event", "progress"},
                    {"job", name(progress.job)},
                    {"update", progress.update},
                    {"updates", progress.updates},
                    {"epoch", progress.epoch},
                    {"loss", progress.loss},
                    {"grad_norm", progress.grad_norm},
                    {"learning_rate", progress.learning_rate},
                    {"tokens", progress.tokens},
                    {"seconds", progress.seconds}}));
}

void JsonView::on_evaluation(std::int64_t job, double epoch, std::int64_t update,
                             const engine::Metrics& metrics) {
  sink_(event_line({{"event", "evaluation"},
                    {"job", name(job)},
                    {"epoch", epoch},
                    {"update", update},
                    {"metrics", event_json(metrics)}}));
}

void JsonView::on_job_end(const engine::JobResult& result) {
  sink_(event_line({{"event", "end"},
                    {"job", name(result.job)},
                    {"status", engine::status_name(result.status)},
                    {"reason", result.reason},
                    {"best", event_json(result.best)},
                    {"best_epoch", result.best_epoch},
                    {"last", event_json(result.last)},
                    {"updates", result.updates},
                    {"tokens", result.tokens},
                    {"seconds", result.seconds},
                    {"folder", result.folder.string()}}));
}

}  // namespace shoal::cli
