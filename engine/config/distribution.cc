#include "engine/config/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "data/text_error.h"
#include "engine/config/binding.h"
#include "kernels/base/philox.h"
#include "models/weights.h"

namespace shoal::engine::config {
namespace {

using Kind = Distribution::Kind;

const std::vector<std::pair<std::string, Kind>> kRanges = {{"uniform", Kind::kUniform},
                                                           {"loguniform", Kind::kLogUniform},
                                                           {"quniform", Kind::kQUniform},
                                                           {"randint", Kind::kRandInt}};

double uniform01(const std::string& key, std::uint64_t seed, std::int64_t trial) {
  constexpr std::uint32_t kDrawStream = 0x44524157;  // "DRAW"
  const std::uint64_t name = models::name_hash(key);
  const Philox4 r = philox4x32_10(seed, static_cast<std::uint32_t>(trial), kDrawStream,
                                  static_cast<std::uint32_t>(name), static_cast<std::uint32_t>(name >> 32));
  const std::uint64_t bits = std::uint64_t{r.v[0]} << 32 | r.v[1];
  return std::ldexp(static_cast<double>(bits >> 11), -53);
}

// To six digits, unless that would leave the range [low, high).
double rounded(double x, double low, double high) {
  const double inside = std::clamp(x, low, std::nextafter(high, low));
  const double short_x = std::stod(fmt::format("{:.6g}", inside));
  return short_x >= low && short_x < high ? short_x : inside;
}

// First and last of the multiples of `step` in [low, high], as factors; 0.3 counts as the third of 0.1.
std::pair<double, double> factors(double low, double high, double step) {
  constexpr double kSlack = 1e-9;
  return {std::ceil(low / step - kSlack), std::floor(high / step + kSlack)};
}

Value real_value(double x, const Place& place) {
  Value value;
  value.type = Value::Type::kReal;
  value.written = number_text(x);
  value.real = x;
  value.place = place;
  return value;
}

bool all_integers(const std::vector<Value>& items) {
  return std::ranges::all_of(items, [](const Value& x) { return x.type == Value::Type::kInteger; });
}

// Two ends in their order, and a step > 0; integers are exact as double up to 2^53.
bool is_range(Kind kind, const std::vector<Value>& items) {
  const std::size_t wanted = kind == Kind::kQUniform ? 3 : 2;
  if (items.size() != wanted) return false;
  for (const Value& x : items) {
    if (!x.is_number() || !(std::abs(x.real) < 0x1p53)) return false;
  }
  if (!(items[0].real < items[1].real)) return false;
  if (kind == Kind::kLogUniform && !(items[0].real > 0)) return false;
  if (kind == Kind::kRandInt && !all_integers(items)) return false;
  if (kind != Kind::kQUniform) return true;
  const double step = items[2].real;
  if (!(step > 0)) return false;
  const auto [first, last] = factors(items[0].real, items[1].real, step);
  return first <= last;
}

std::string range_form(Kind kind) {
  switch (kind) {
    case Kind::kLogUniform:
      return "[a, b], numbers with 0 < a < b";
    case Kind::kQUniform:
      return "[a, b, q], numbers with a < b, q > 0 and a multiple of q between a and b";
    case Kind::kRandInt:
      return "[a, b], integers with a < b; b itself is not drawn";
    default:
      return "[a, b], numbers with a < b";
  }
}

Distribution choice_of(const std::string& name, const Value& value) {
  require(value.type == Value::Type::kArray, "{} is {}; allowed: a list of values", name, value.shown());
  require(!value.items.empty(), "{} is an empty list, so there would be no job", name);
  Distribution distribution;
  distribution.choices = value.items;
  distribution.place = value.place;
  return distribution;
}

Distribution range_of(const std::string& name, Kind kind, const Value& value) {
  require(value.type == Value::Type::kArray && is_range(kind, value.items), "{} is not of the form {}", name,
          range_form(kind));
  Distribution distribution;
  distribution.kind = kind;
  distribution.low = value.items[0].real;
  distribution.high = value.items[1].real;
  distribution.step = kind == Kind::kQUniform ? value.items[2].real : 0;
  distribution.integers = all_integers(value.items);
  distribution.place = value.place;
  return distribution;
}

}  // namespace

Value Distribution::draw(const std::string& key, std::uint64_t seed, std::int64_t trial) const {
  const double u = uniform01(key, seed, trial);
  const double x = low + u * (high - low);
  switch (kind) {
    case Kind::kChoice:
      return choices[static_cast<std::size_t>(u * static_cast<double>(choices.size()))];
    case Kind::kUniform:
      return real_value(rounded(x, low, high), place);
    case Kind::kLogUniform:
      return real_value(rounded(std::exp(std::log(low) + u * std::log(high / low)), low, high), place);
    case Kind::kQUniform: {
      const auto [first, last] = factors(low, high, step);
      const double multiple = std::clamp(std::round(x / step), first, last) * step;
      if (integers) return integer_value(static_cast<std::int64_t>(multiple), place);
      return real_value(std::stod(fmt::format("{:.6g}", multiple)), place);
    }
    case Kind::kRandInt:
      return integer_value(static_cast<std::int64_t>(std::floor(x)), place);
  }
  return {};
}

std::optional<Distribution> read_distribution(const Entry& entry, Problems& problems) {
  const std::string name = "sweep." + entry.key;
  try {
    if (entry.value.type != Value::Type::kTable) return choice_of(name, entry.value);
    std::vector<std::string> forms = {"choice"};
    for (const auto& [form, unused] : kRanges) forms.push_back(form);
    require(entry.value.table.size() == 1, "{} is a table of {} keys; allowed: one", name,
            entry.value.table.size());
    const auto& [form, place, value] = entry.value.table.front();
    if (form == "choice") return choice_of(name + ".choice", value);
    const auto range = std::ranges::find(kRanges, form, &std::pair<std::string, Kind>::first);
    if (range != kRanges.end()) return range_of(name + "." + form, range->second, value);
    throw Error(fmt::format("{}: unknown range {}", name, data::in_quotes(form)) +
                data::allowed_and_nearest(form, forms));
  } catch (const Error& error) {
    problems.add(entry.value.place, error.what());
    return std::nullopt;
  }
}

}  // namespace shoal::engine::config
