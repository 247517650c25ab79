#include "cli/json_view.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "engine/run_report.h"

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json metrics_json(const engine::Metrics& metrics) {
  Json out = Json::object();
  for (const auto& [name, value] : metrics) out[name] = value;
  return out;
}

}  // namespace

JsonView::JsonView(const engine::FleetSpec& fleet, LineSink sink, Clock clock)
    : fleet_(fleet),
      sink_(std::move(sink)),
      clock_(std::move(clock)),
      last_(fleet.jobs.size(), -std::numeric_limits<double>::infinity()) {}

void JsonView::on_plan(const engine::FleetPlan& plan) {
  Json groups = Json::array();
  for (const engine::GroupPlan& group : plan.groups) {
    groups.push_back(
        {{"model", group.model}, {"jobs", group.jobs}, {"slots", group.slots}, {"bytes", group.bytes}});
  }
  sink_(text({{"event", "plan"},
              {"jobs", plan.jobs},
              {"slots", plan.slots},
              {"device", plan.device},
              {"groups", groups},
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
  sink_(text(json));
}

void JsonView::on_job_start(std::int64_t job, std::int64_t slot) {
  sink_(text({{"event", "start"}, {"job", name(job)}, {"slot", slot}}));
}

void JsonView::on_progress(const engine::JobProgress& progress) {
  double& last = last_.at(static_cast<std::size_t>(progress.job));
  const double now = clock_();
  if (now - last < 1 && progress.update < progress.updates) return;
  last = now;
  sink_(text({{"event", "progress"},
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
  sink_(text({{"event", "evaluation"},
              {"job", name(job)},
              {"epoch", epoch},
              {"update", update},
              {"metrics", metrics_json(metrics)}}));
}

void JsonView::on_job_end(const engine::JobResult& result) {
  sink_(text({{"event", "end"},
              {"job", name(result.job)},
              {"status", engine::status_name(result.status)},
              {"reason", result.reason},
              {"best", metrics_json(result.best)},
              {"best_epoch", result.best_epoch},
              {"last", metrics_json(result.last)},
              {"updates", result.updates},
              {"tokens", result.tokens},
              {"seconds", result.seconds},
              {"folder", result.folder.string()}}));
}

}  // namespace shoal::cli
