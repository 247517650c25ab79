#include "cli/fleet_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "cli/format.h"
#include "cli/styled_line.h"

namespace shoal::cli {

using engine::JobStatus;

Clock steady_clock() {
  const auto start = std::chrono::steady_clock::now();
  return [start] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
}

double JobState::done_share() const {
  if (status == JobStatus::kDone || status == JobStatus::kFailed || status == JobStatus::kStopped) return 1;
  if (progress.updates <= 0) return 0;
  return std::clamp(static_cast<double>(progress.update) / static_cast<double>(progress.updates), 0.0, 1.0);
}

FleetState::FleetState(const engine::FleetSpec& fleet, Clock clock)
    : fleet_(fleet), clock_(std::move(clock)), start_(clock_()) {
  constexpr int kWidest = 32;
  for (const engine::JobSpec& job : fleet.jobs) {
    jobs_.push_back({.name = job.name});
    name_width_ = std::max(name_width_, std::min(kWidest, text_width(job.name)));
  }
}

void FleetState::on_job_start(std::int64_t job, std::int64_t slot) {
  JobState& state = jobs_.at(static_cast<std::size_t>(job));
  state.status = JobStatus::kTraining;
  state.slot = slot;
}

void FleetState::on_progress(const engine::JobProgress& progress) {
  JobState& state = jobs_.at(static_cast<std::size_t>(progress.job));
  state.status = progress.status;
  state.progress = progress;
}

void FleetState::on_evaluation(std::int64_t job, double, std::int64_t, const engine::Metrics& metrics) {
  jobs_.at(static_cast<std::size_t>(job)).evaluation = metrics;
}

void FleetState::on_job_end(const engine::JobResult& result) {
  JobState& state = jobs_.at(static_cast<std::size_t>(result.job));
  state.status = result.status;
  state.slot = -1;
}

std::vector<std::int64_t> FleetState::running() const {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].slot >= 0) out.push_back(static_cast<std::int64_t>(i));
  }
  std::ranges::stable_sort(out, {}, [&](std::int64_t i) { return job(i).slot; });
  return out;
}

double FleetState::left() const {
  double share = 0;
  for (const JobState& state : jobs_) share += state.done_share();
  share /= static_cast<double>(std::max<std::size_t>(1, jobs_.size()));
  return share > 0 ? now() * (1 - share) / share : std::numeric_limits<double>::infinity();
}

std::string FleetState::summary() const {
  std::int64_t done = 0, training = 0, queued = 0, failed = 0, stopped = 0, tokens = 0;
  for (const JobState& state : jobs_) {
    tokens += state.progress.tokens;
    done += state.status == JobStatus::kDone;
    failed += state.status == JobStatus::kFailed;
    queued += state.status == JobStatus::kQueued;
    stopped += state.status == JobStatus::kStopped;
    training += state.status == JobStatus::kTraining || state.status == JobStatus::kEvaluating;
  }
  std::string out = fmt::format("done {}, training {}, queued {}, failed {}", done, training, queued, failed);
  if (stopped > 0) out += fmt::format(", stopped {}", stopped);
  const double seconds = now();
  if (seconds > 0 && tokens > 0) {
    out += fmt::format("; {} tokens/s",
                       with_commas(static_cast<std::int64_t>(static_cast<double>(tokens) / seconds)));
  }
  if (training + queued > 0) out += fmt::format("; {} left", clock_text(left()));
  return out;
}

std::string shown_metric(const engine::JobSpec& job, const engine::Metrics& metrics) {
  if (!job.metric_for_best_model.empty()) return job.metric_for_best_model;
  for (const auto& [name, value] : metrics) {
    if (name != "loss") return name;
  }
  return metrics.empty() ? "" : metrics.front().first;
}

std::string metric_value(const engine::Metrics& metrics, const std::string& name) {
  for (const auto& [known, value] : metrics) {
    if (known == name) return metric_text(value);
  }
  return {};
}

double job_left(const engine::JobProgress& progress) {
  if (progress.update <= 0) return std::numeric_limits<double>::infinity();
  const auto rest = static_cast<double>(progress.updates - progress.update);
  return progress.seconds * rest / static_cast<double>(progress.update);
}

}  // namespace shoal::cli
