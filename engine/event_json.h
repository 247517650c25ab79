// What the two streams of events share: fleet.jsonl (engine/fleet_log.h) and `--progress json`
// (cli/json_view.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/observer.h"

namespace shoal::engine {

inline nlohmann::ordered_json event_json(const Metrics& metrics) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [name, value] : metrics) object[name] = value;
  return object;
}

inline nlohmann::ordered_json event_json(const std::vector<GroupPlan>& groups) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const GroupPlan& group : groups)
    list.push_back(
        {{"model", group.model}, {"jobs", group.jobs}, {"slots", group.slots}, {"bytes", group.bytes}});
  return list;
}

// One line; a file name in it need not be UTF-8.
inline std::string event_line(const nlohmann::ordered_json& event) {
  return event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace shoal::engine
