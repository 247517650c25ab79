// What `search` draws a key's values from: a list, or a range as Ray Tune names it.
//
//   [values], { choice = [values] }   one of them, all alike
//   { uniform = [a, b] }              a <= x < b
//   { loguniform = [a, b] }           the same over log x; 0 < a
//   { quniform = [a, b, q] }          uniform, rounded to a multiple of q; integers where all three are
//   { randint = [a, b] }              an integer, a <= x < b
//
// Rule of a draw: h = models::name_hash(key); v = philox4x32_10(key = search's seed, c0 = low 32 bits of the
// trial, c1 = 0x44524157 "DRAW", c2 = low 32 bits of h, c3 = high 32 bits of h); u = (v[0] << 32 | v[1]) >>
// 11 over 2^53. It depends on seed, trial and key alone: another key, or more trials, change nothing. Real
// numbers are rounded to six digits, which job names and tables can bear and no libm's last bit reaches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/problems.h"
#include "engine/config/value.h"

namespace shoal::engine::config {

struct Distribution {
  enum class Kind : std::uint8_t { kChoice, kUniform, kLogUniform, kQUniform, kRandInt };

  Kind kind = Kind::kChoice;
  std::vector<Value> choices;  // of kChoice
  double low = 0;
  double high = 0;
  double step = 0;        // of kQUniform
  bool integers = false;  // of kQUniform
  Place place;

  Value draw(const std::string& key, std::uint64_t seed, std::int64_t trial) const;
};

// Of sweep.KEY; none, with a problem, where it is of no known form.
std::optional<Distribution> read_distribution(const Entry& entry, Problems& problems);

}  // namespace shoal::engine::config
