#include "bench/probe/record.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace shoal::probe {
namespace {

using Json = nlohmann::ordered_json;

Value value_of(const Json& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<std::int64_t>();
  if (j.is_number()) return j.get<double>();
  return j.get<std::string>();
}

std::string shown(const Value& value) {
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "yes" : "no";
  if (const auto* count = std::get_if<std::int64_t>(&value)) return std::to_string(*count);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  char number[32];
  std::snprintf(number, sizeof number, "%.4g", std::get<double>(value));
  return number;
}

}  // namespace

std::string to_json(const Measure& m) {
  Json j = {{"name", m.name}, {"unit", m.unit}};
  if (m.value.runs > 0) {
    j["median"] = m.value.median;
    j["low"] = m.value.low;
    j["high"] = m.value.high;
  }
  j["runs"] = m.value.runs;
  Json details = Json::object();
  for (const auto& [key, value] : m.details) {
    std::visit([&details, name = key](const auto& v) { details[name] = v; }, value);
  }
  j["details"] = std::move(details);
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Measure measure_from_json(const std::string& line) {
  const Json j = Json::parse(line);
  Measure m(j.at("name").get<std::string>(), j.at("unit").get<std::string>());
  m.value.runs = j.at("runs").get<int>();
  if (m.value.runs > 0) {
    // A rate over a time of zero is written as null: it stays visible as not a number.
    const auto number = [&j](const char* key) { return j.at(key).is_null() ? NAN : j.at(key).get<double>(); };
    m.value.median = number("median");
    m.value.low = number("low");
    m.value.high = number("high");
  }
  for (const auto& [key, value] : j.at("details").items()) {
    m.details.emplace_back(key, value.is_null() ? Value{NAN} : value_of(value));
  }
  return m;
}

std::string table_line(const Measure& m) {
  char head[160];
  if (m.value.runs > 0) {
    std::snprintf(head, sizeof head, "  %-38s %10.4g  [%9.4g .. %9.4g] %-10s x%-3d", m.name.c_str(),
                  m.value.median, m.value.low, m.value.high, m.unit.c_str(), m.value.runs);
  } else {
    std::snprintf(head, sizeof head, "  %-38s", m.name.c_str());
  }
  std::string line = head;
  for (const auto& [key, value] : m.details) line += "  " + key + "=" + shown(value);
  return line;
}

}  // namespace shoal::probe
