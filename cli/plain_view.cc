#include "cli/plain_view.h"

#include <fmt/format.h>

#include "cli/format.h"
#include "cli/plan_lines.h"
#include "cli/styled_line.h"

namespace shoal::cli {

using engine::JobStatus;

std::string end_text(const engine::JobSpec& job, const engine::JobResult& result) {
  const std::string updates = counted(result.updates, "update");
  if (result.status == JobStatus::kFailed) return "failed: " + result.reason;
  std::string out = result.status == JobStatus::kStopped ? "stopped: " : "done: ";
  if (const std::string metric = shown_metric(job, result.best); !result.best.empty()) {
    out += fmt::format("{} {} at epoch {}, ", metric, metric_value(result.best, metric),
                       epoch_text(result.best_epoch));
  }
  return out + updates;
}

std::string note_text(const engine::FleetSpec& fleet, std::int64_t job, const std::string& line) {
  constexpr std::string_view kWarning = "warning: ";
  const bool warns = line.starts_with(kWarning);
  std::string out(warns ? kWarning : "note: ");
  if (job >= 0) out += fleet.jobs.at(static_cast<std::size_t>(job)).name + ": ";
  return out + (warns ? line.substr(kWarning.size()) : line);
}

PlainView::PlainView(const engine::FleetSpec& fleet, LineSink sink, Clock clock)
    : fleet_(fleet), state_(fleet, std::move(clock)), sink_(std::move(sink)) {}

void PlainView::say(const std::string& what) {
  last_line_ = state_.now();
  sink_(fmt::format("{:>7}  {}", clock_text(last_line_), what));
}

void PlainView::on_plan(const engine::FleetPlan& plan) {
  for (const std::string& line : plan_lines(plan, fleet_)) sink_(line);
}

void PlainView::on_note(std::int64_t job, const std::string& line) {
  sink_(note_text(fleet_, job, line));
}

void PlainView::on_job_start(std::int64_t job, std::int64_t slot) {
  state_.on_job_start(job, slot);
  say(fmt::format("{}  started in slot {}", padded(state_.job(job).name, state_.name_width()), slot));
}

void PlainView::on_progress(const engine::JobProgress& progress) {
  state_.on_progress(progress);
}

void PlainView::on_evaluation(std::int64_t job, double epoch, std::int64_t update,
                              const engine::Metrics& metrics) {
  state_.on_evaluation(job, epoch, update, metrics);
  std::string line =
      fmt::format("{}  epoch {}  update {}/{}", padded(state_.job(job).name, state_.name_width()),
                  epoch_text(epoch), update, state_.job(job).progress.updates);
  // metrics.jsonl has all of them; a line of eight would hide the one that counts.
  const std::string shown = shown_metric(state_.spec(job), metrics);
  for (const auto& [name, value] : metrics) {
    if (name == "loss" || name == shown) line += fmt::format("  {} {}", name, metric_text(value));
  }
  say(line);
}

void PlainView::on_job_end(const engine::JobResult& result) {
  state_.on_job_end(result);
  say(fmt::format("{}  {}", padded(state_.job(result.job).name, state_.name_width()),
                  end_text(state_.spec(result.job), result)));
}

void PlainView::on_tick() {
  if (state_.now() - last_line_ >= kHeartbeatSeconds) say(state_.summary());
}

}  // namespace shoal::cli
