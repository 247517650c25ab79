#include "cli/plan_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/format.h"

namespace shoal::cli {

std::vector<std::string> plan_lines(const engine::FleetPlan& plan, const engine::FleetSpec& fleet) {
  std::vector<std::string> lines;
  std::string head = fmt::format("{}, {}, {}", counted(plan.jobs, "job"), counted(plan.slots, "slot"),
                                 counted(static_cast<std::int64_t>(plan.groups.size()), "group"));
  if (plan.groups.size() == 1) {
    lines.push_back(fmt::format("{}: {}; {}", head, plan.groups[0].model, bytes_text(plan.groups[0].bytes)));
  } else {
    lines.push_back(head + (plan.groups.empty() ? "" : ":"));
    for (const engine::GroupPlan& group : plan.groups) {
      lines.push_back(fmt::format("  {}, {}: {}; {}", counted(group.jobs, "job"),
                                  counted(group.slots, "slot"), group.model, bytes_text(group.bytes)));
    }
  }
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  std::string checked = fmt::format("checked {}: {}, mean {:.1f} tokens, {} truncated, {:.2f} % [UNK]",
                                    counted(plan.data_sets, "data set"), counted(plan.rows, "row"),
                                    share(plan.tokens, plan.rows), with_commas(plan.truncated),
                                    100 * share(plan.unknown, plan.pieces));
  // A label of dev that train lacks is refused before there is a plan.
  if (std::ranges::any_of(fleet.jobs, [](const auto& job) { return !job.validation_file.empty(); })) {
    checked += ", labels agree in train and dev";
  }
  lines.push_back(checked);
  return lines;
}

}  // namespace shoal::cli
