#include "cli/result_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "cli/fleet_state.h"
#include "cli/format.h"
#include "cli/styled_line.h"

namespace shoal::cli {
namespace {

using engine::JobStatus;

constexpr std::size_t kColumns = 6;
using Row = std::array<std::string, kColumns>;

std::string metric_of(const engine::FleetSpec& fleet, const engine::JobResult& result) {
  return shown_metric(fleet.jobs.at(static_cast<std::size_t>(result.job)), result.best);
}

std::string outcome(const engine::JobResult& result) {
  switch (result.status) {
    case JobStatus::kDone:
      return result.folder.string();
    case JobStatus::kFailed:
      return "failed: " + result.reason;
    case JobStatus::kStopped:
      return "stopped";
    default:
      return "not begun";
  }
}

std::string render(const Row& row, const std::array<int, kColumns>& widths) {
  std::string line;
  for (std::size_t c = 0; c < kColumns; ++c) {
    const bool is_text = c == 0 || c + 1 == kColumns;
    const std::string cell = c + 1 == kColumns ? row[c] : padded(row[c], widths[c], !is_text);
    line += (c ? "  " : "") + cell;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::vector<std::string> result_table(const engine::FleetSpec& fleet,
                                      const std::vector<engine::JobResult>& results) {
  std::set<std::string> metrics;
  for (const engine::JobResult& result : results) {
    if (!result.best.empty()) metrics.insert(metric_of(fleet, result));
  }
  // One metric names the column; several stand in the cells.
  const bool one_metric = metrics.size() == 1;
  std::vector<Row> rows = {
      {"job", one_metric ? *metrics.begin() : "best", "best at", "updates", "time", "folder"}};
  for (const engine::JobResult& result : results) {
    const std::string metric = metric_of(fleet, result);
    const std::string value = metric_value(result.best, metric);
    const bool measured = !result.best.empty();
    rows.push_back({fleet.jobs.at(static_cast<std::size_t>(result.job)).name,
                    !measured    ? "-"
                    : one_metric ? value
                                 : metric + " " + value,
                    measured ? "epoch " + epoch_text(result.best_epoch) : "-", with_commas(result.updates),
                    clock_text(result.seconds), outcome(result)});
  }
  std::array<int, kColumns> widths = {};
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < kColumns; ++c) widths[c] = std::max(widths[c], text_width(row[c]));
  }
  std::vector<std::string> lines;
  for (const Row& row : rows) lines.push_back(render(row, widths));
  return lines;
}

}  // namespace shoal::cli
