// Progress on a terminal: a line a running job with a bar, a line for the fleet, redrawn in place; notes and
// finished jobs scroll up above them. Only as many lines as the terminal has, less four, none of them
// wider than it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/fleet_state.h"
#include "cli/plain_view.h"
#include "cli/styled_line.h"
#include "cli/terminal.h"

namespace shoal::cli {

class LiveView : public engine::Observer {
 public:
  static constexpr double kRedrawSeconds = 0.1;

  struct Screen {
    std::function<void(const std::string&)> write;  // raw text with control sequences
    std::function<TerminalSize()> size;
    bool color = true;
  };

  LiveView(const engine::FleetSpec& fleet, Screen screen, Clock clock);
  // Leaves the last state on the screen, the cursor below it.
  ~LiveView() override;

  void on_plan(const engine::FleetPlan& plan) override;
  void on_note(std::int64_t job, const std::string& line) override;
  void on_job_start(std::int64_t job, std::int64_t slot) override;
  void on_progress(const engine::JobProgress& progress) override;
  void on_evaluation(std::int64_t job, double epoch, std::int64_t update,
                     const engine::Metrics& metrics) override;
  void on_job_end(const engine::JobResult& result) override;
  void on_tick() override;

 private:
  void scroll(const StyledLine& line);  // drawn with the next redraw
  void redraw();
  std::vector<StyledLine> live_lines(const TerminalSize& size) const;
  StyledLine job_line(std::int64_t job) const;
  StyledLine end_line(const engine::JobResult& result) const;

  const engine::FleetSpec& fleet_;
  Screen screen_;
  FleetState state_;
  std::vector<StyledLine> scrolled_;  // not on the screen yet
  std::size_t drawn_ = 0;             // lines that stand above the cursor and will be drawn over
  double last_draw_ = -1;
};

}  // namespace shoal::cli
