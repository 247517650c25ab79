// Progress for files and pipes: a line an evaluation, a line a finished job, and a heartbeat, each with the
// time since the start in front. Nothing is ever drawn over.
#pragma once

#include <functional>
#include <string>

#include "cli/fleet_state.h"

namespace shoal::cli {

// Takes whole lines, without the newline.
using LineSink = std::function<void(const std::string&)>;

class PlainView : public engine::Observer {
 public:
  static constexpr double kHeartbeatSeconds = 30;

  PlainView(const engine::FleetSpec& fleet, LineSink sink, Clock clock);

  void on_plan(const engine::FleetPlan& plan) override;
  void on_note(std::int64_t job, const std::string& line) override;
  void on_job_start(std::int64_t job, std::int64_t slot) override;
  void on_progress(const engine::JobProgress& progress) override;
  void on_evaluation(std::int64_t job, double epoch, std::int64_t update,
                     const engine::Metrics& metrics) override;
  void on_job_end(const engine::JobResult& result) override;
  void on_tick() override;

 private:
  void say(const std::string& what);

  const engine::FleetSpec& fleet_;
  FleetState state_;
  LineSink sink_;
  double last_line_ = 0;
};

// "done: accuracy 0.981 at epoch 4, 470 updates", "failed: ..."; for both views.
std::string end_text(const engine::JobSpec& job, const engine::JobResult& result);
// "note: mood: ..." or "note: ..."; a line that starts with "warning: " keeps that in front.
std::string note_text(const engine::FleetSpec& fleet, std::int64_t job, const std::string& line);

}  // namespace shoal::cli
