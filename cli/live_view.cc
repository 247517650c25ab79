#include "cli/live_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/format.h"
#include "cli/plan_lines.h"

namespace shoal::cli {
namespace {

using engine::JobStatus;

constexpr int kBarWidth = 20;
constexpr std::size_t kReservedRows = 4;

void add_bar(StyledLine& line, double share) {
  const int full = static_cast<int>(std::floor(share * kBarWidth));
  std::string done, rest;
  for (int i = 0; i < kBarWidth; ++i) (i < full ? done : rest) += i < full ? "━" : "─";
  line.add(done, Style::kBar).add(rest, Style::kFaint);
  line.add(fmt::format(" {:3} %", static_cast<int>(std::floor(share * 100))));
}

// Name, bar, loss, metric: the same for a running and a finished job.
StyledLine job_head(const FleetState& state, const JobState& job, double share, const std::string& metric,
                    const std::string& value) {
  StyledLine line;
  line.add(fmt::format("  {}  ", padded(job.name, state.name_width())));
  add_bar(line, share);
  line.add(job.progress.update > 0 ? fmt::format("  loss {:.3f}", job.progress.loss) : "");
  line.add(value.empty() ? "" : fmt::format("  {} {}", metric, value));
  return line;
}

}  // namespace

LiveView::LiveView(const engine::FleetSpec& fleet, Screen screen, Clock clock)
    : fleet_(fleet), screen_(std::move(screen)), state_(fleet, std::move(clock)) {}

LiveView::~LiveView() {
  if (last_draw_ >= 0) redraw();
}

void LiveView::on_plan(const engine::FleetPlan& plan) {
  for (const std::string& line : plan_lines(plan, fleet_)) scroll(StyledLine().add(line));
  redraw();
}

void LiveView::on_note(std::int64_t job, const std::string& line) {
  scroll(StyledLine().add(note_text(fleet_, job, line), Style::kFaint));
}

void LiveView::on_job_start(std::int64_t job, std::int64_t slot) {
  state_.on_job_start(job, slot);
  on_tick();
}

void LiveView::on_progress(const engine::JobProgress& progress) {
  state_.on_progress(progress);
  on_tick();
}

void LiveView::on_evaluation(std::int64_t job, double epoch, std::int64_t update,
                             const engine::Metrics& metrics) {
  state_.on_evaluation(job, epoch, update, metrics);
  on_tick();
}

void LiveView::on_job_end(const engine::JobResult& result) {
  scroll(end_line(result));
  state_.on_job_end(result);
  on_tick();
}

void LiveView::on_tick() {
  const double now = state_.now();
  if (last_draw_ < 0 || now - last_draw_ >= kRedrawSeconds) redraw();
}

void LiveView::scroll(const StyledLine& line) {
  scrolled_.push_back(line);
}

StyledLine LiveView::job_line(std::int64_t index) const {
  const JobState& job = state_.job(index);
  const std::string metric = shown_metric(state_.spec(index), job.evaluation);
  StyledLine line = job_head(state_, job, job.done_share(), metric, metric_value(job.evaluation, metric));
  if (job.status == JobStatus::kEvaluating) {
    line.add("  evaluating");
  } else if (job.progress.update > 0) {
    line.add(fmt::format("  {} left", clock_text(job_left(job.progress))));
  }
  return line;
}

StyledLine LiveView::end_line(const engine::JobResult& result) const {
  const JobState& job = state_.job(result.job);
  const std::string metric = shown_metric(state_.spec(result.job), result.best);
  const bool done = result.status == JobStatus::kDone;
  StyledLine line =
      job_head(state_, job, done ? 1 : job.done_share(), metric, metric_value(result.best, metric));
  if (done) return line.add("  done", Style::kGood);
  if (result.status == JobStatus::kStopped) return line.add("  stopped", Style::kBad);
  return line.add("  failed: " + result.reason, Style::kBad);
}

std::vector<StyledLine> LiveView::live_lines(const TerminalSize& size) const {
  const std::vector<std::int64_t> running = state_.running();
  const auto rows = static_cast<std::size_t>(std::max(1, size.rows));
  const std::size_t room = rows > kReservedRows ? rows - kReservedRows : 1;
  const std::size_t shown = running.size() <= room ? running.size() : room - 1;
  std::vector<StyledLine> lines;
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(job_line(running[i]));
  if (shown < running.size()) {
    lines.push_back(StyledLine().add(fmt::format("  ... and {} more jobs in slots", running.size() - shown),
                                     Style::kFaint));
  }
  lines.push_back(StyledLine().add(fmt::format("{}  {}", clock_text(state_.now()), state_.summary())));
  return lines;
}

void LiveView::redraw() {
  const TerminalSize size = screen_.size();
  // The last column stays free: a full line makes some terminals wrap early. What scrolls up may wrap.
  const int columns = std::max(10, size.columns - 1);
  constexpr int kWhole = 1 << 20;
  std::string out;
  if (drawn_ > 0) out += fmt::format("\x1b[{}A", drawn_);
  const auto put = [&](const StyledLine& line, int width) {
    out += "\r" + line.render(width, screen_.color) + "\x1b[K\n";
  };
  for (const StyledLine& line : scrolled_) put(line, kWhole);
  scrolled_.clear();
  const std::vector<StyledLine> lines = live_lines(size);
  for (const StyledLine& line : lines) put(line, columns);
  out += "\x1b[J";
  drawn_ = lines.size();
  last_draw_ = state_.now();
  screen_.write(out);
}

}  // namespace shoal::cli
