#include "bench/probe/session.h"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

namespace shoal::probe {
namespace {

using Json = nlohmann::ordered_json;

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

void Session::add(const PlannedPart& planned, PartReport report) {
  parts_.emplace_back(planned, std::move(report));
}

std::vector<std::string> Session::missing(const PlannedPart& planned, const PartReport& report, bool hopper) {
  std::vector<std::string> names;
  for (const PlannedLine& line : planned.lines) {
    const bool here = std::any_of(report.lines.begin(), report.lines.end(),
                                  [&line](const Measure& m) { return m.name == line.name; });
    if (!here && (hopper || !line.hopper)) names.push_back(line.name);
  }
  return names;
}

bool Session::hopper() const {
  for (const auto& [planned, report] : parts_) {
    for (const Measure& m : report.lines) {
      if (m.name != "device") continue;
      for (const auto& [key, value] : m.details) {
        if (key == "compute_capability") return std::get<std::string>(value) == "9.0";
      }
    }
  }
  return true;
}

bool Session::whole() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const auto& p) { return p.second.outcome == Outcome::kDone; });
}

std::string Session::json(double seconds) const {
  Json parts = Json::array(), lines = Json::array();
  for (const auto& [planned, report] : parts_) {
    parts.push_back({{"name", planned.name},
                     {"budget_s", planned.seconds},
                     {"seconds", report.seconds},
                     {"outcome", outcome_word(report.outcome)},
                     {"reason", report.reason},
                     {"missing", missing(planned, report, hopper())}});
    for (const Measure& m : report.lines) {
      Json line = Json::parse(to_json(m));
      line["part"] = planned.name;
      lines.push_back(std::move(line));
    }
  }
  return Json{{"format", "shoal-probe-1"},
              {"date", now_utc()},
              {"seconds", seconds},
              {"parts", std::move(parts)},
              {"lines", std::move(lines)}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace shoal::probe
