#include "cli/progress.h"

#include <cstdio>

#include "cli/json_view.h"
#include "cli/live_view.h"
#include "cli/plain_view.h"
#include "cli/terminal.h"

namespace shoal::cli {
namespace {

void write_now(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void write_line(const std::string& line) {
  write_now(line + "\n");
}

}  // namespace

const std::vector<std::string>& progress_modes() {
  static const std::vector<std::string> modes = {"auto", "plain", "json", "none"};
  return modes;
}

std::unique_ptr<engine::Observer> make_progress(const std::string& mode, const engine::FleetSpec& fleet) {
  if (mode == "json") return std::make_unique<JsonView>(fleet, write_line, steady_clock());
  if (mode == "none") return std::make_unique<engine::Observer>();
  if (mode == "auto" && stdout_is_terminal()) {
    const LiveView::Screen screen{.write = write_now, .size = stdout_size, .color = stdout_has_color()};
    return std::make_unique<LiveView>(fleet, screen, steady_clock());
  }
  return std::make_unique<PlainView>(fleet, write_line, steady_clock());
}

}  // namespace shoal::cli
