// One measured line, and its form as JSON and as a line of the table.
//
// A line has a name that stays the same from card to card ("bandwidth.copy"), a unit, the spread of its
// runs, and details (counts, the algorithm chosen, the clock after the run). Lines that only state facts
// have no unit and no runs. Details are plain pairs so that CUDA sources need no JSON header.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/probe/statistics.h"

namespace shoal::probe {

using Value = std::variant<bool, std::int64_t, double, std::string>;

struct Measure {
  std::string name, unit;
  Spread value;
  std::vector<std::pair<std::string, Value>> details;

  Measure(std::string name_, std::string unit_, Spread value_ = {})
      : name(std::move(name_)), unit(std::move(unit_)), value(value_) {}

  Measure& with(std::string key, const char* text) { return add(std::move(key), std::string(text)); }
  Measure& with(std::string key, std::string text) { return add(std::move(key), std::move(text)); }
  Measure& with(std::string key, bool yes) { return add(std::move(key), yes); }
  Measure& with(std::string key, int count) { return add(std::move(key), std::int64_t{count}); }
  Measure& with(std::string key, std::int64_t count) { return add(std::move(key), count); }
  Measure& with(std::string key, double number) { return add(std::move(key), number); }

 private:
  Measure& add(std::string key, Value value_) {
    details.emplace_back(std::move(key), std::move(value_));
    return *this;
  }
};

std::string to_json(const Measure& measure);         // one line
Measure measure_from_json(const std::string& line);  // throws where it is not one
std::string table_line(const Measure& measure);

}  // namespace shoal::probe
