// How a key reaches its member: what it takes, in words, and the two ways between Value and member.
//
// A binding is made by one of the factories below from a member pointer and a range; the words that
// messages and documentation show come from the same range that is checked, so they cannot differ.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/config/value.h"
#include "kernels/base/error.h"

namespace shoal::engine::config {

struct Context {
  std::filesystem::path base;  // folder of the fleet file: paths are relative to it
};

// A value of the right form that names something which is not there (a file, a model): fails its job
// alone under on_error = "skip".
class Missing : public Error {
 public:
  using Error::Error;
};

template <typename Spec>
struct Binding {
  std::string type;                  // "an integer"
  std::string range;                 // ">= 1"; empty: every value of the type
  std::vector<std::string> choices;  // of a choice
  // Sets the member; false: not an allowed value. Error or Missing where there is more to say.
  std::function<bool(Spec&, const Value&, const Context&)> set;
  // The member as TOML, empty where it is unset.
  std::function<std::string(const Spec&)> get;
  std::vector<std::string> later = {};  // choices that a later version brings

  Binding with_later(std::vector<std::string> names) && {
    later = std::move(names);
    return std::move(*this);
  }
};

struct Range {
  double low = -std::numeric_limits<double>::infinity();
  bool low_open = true;
  double high = std::numeric_limits<double>::infinity();  // always open
  std::string text;

  bool holds(double x) const { return std::isfinite(x) && (low_open ? x > low : x >= low) && x < high; }
};
Range at_least(double low);
Range above(double low);
Range from_to_below(double low, double high);        // [low, high)
Range from_to(std::int64_t low, std::int64_t high);  // integers, both ends included

// 5e-5, 0.1, 3.0: the shortest text that reads back as the same number, and is a number in TOML.
std::string number_text(double value);
// The same, but a whole number without point or exponent: counts read back as integers.
std::string count_text(double value);

namespace detail {
template <typename T>
struct Plain {
  using type = T;
};
template <typename T>
struct Plain<std::optional<T>> {
  using type = T;
};
template <typename T>
const T* present(const T& member) {
  return &member;
}
template <typename T>
const T* present(const std::optional<T>& member) {
  return member ? &*member : nullptr;
}
}  // namespace detail

// Members may be T or std::optional<T>; the optional is unset while the file does not name the key.
template <typename Spec, typename Member>
Binding<Spec> integer(Member Spec::*member, Range range) {
  using T = typename detail::Plain<Member>::type;
  range.high = std::min(range.high, std::ldexp(1.0, std::numeric_limits<T>::digits));
  return {"an integer",
          range.text,
          {},
          [=](Spec& spec, const Value& value, const Context&) {
            if (value.type != Value::Type::kInteger || !range.holds(value.real)) return false;
            spec.*member = static_cast<T>(value.integer);
            return true;
          },
          [=](const Spec& spec) {
            const T* x = detail::present(spec.*member);
            return x ? fmt::format("{}", *x) : std::string();
          }};
}

template <typename Spec, typename Member>
Binding<Spec> number(Member Spec::*member, Range range) {
  return {"a number",
          range.text,
          {},
          [=](Spec& spec, const Value& value, const Context&) {
            if (!value.is_number() || !range.holds(value.real)) return false;
            spec.*member = value.real;
            return true;
          },
          [=](const Spec& spec) {
            const double* x = detail::present(spec.*member);
            return x ? number_text(*x) : std::string();
          }};
}

template <typename Spec, typename Member>
Binding<Spec> boolean(Member Spec::*member) {
  return {"true or false",
          {},
          {},
          [=](Spec& spec, const Value& value, const Context&) {
            if (value.type != Value::Type::kBool) return false;
            spec.*member = value.boolean;
            return true;
          },
          [=](const Spec& spec) {
            const bool* x = detail::present(spec.*member);
            return std::string(!x ? "" : *x ? "true" : "false");
          }};
}

// Names of an enum's values, or a text of which only these are known.
template <typename Spec, typename Member>
Binding<Spec> choice(Member Spec::*member,
                     std::vector<std::pair<std::string, typename detail::Plain<Member>::type>> choices) {
  Binding<Spec> binding{"one of", {}, {}, {}, {}, {}};
  for (const auto& [name, unused] : choices) {
    binding.choices.push_back(name);
    binding.range += (binding.range.empty() ? "" : ", ") + name;
  }
  binding.set = [=](Spec& spec, const Value& value, const Context&) {
    for (const auto& [name, meant] : choices) {
      if (value.type != Value::Type::kText || value.written != name) continue;
      spec.*member = meant;
      return true;
    }
    return false;
  };
  binding.get = [=](const Spec& spec) {
    const auto* x = detail::present(spec.*member);
    for (const auto& [name, meant] : choices) {
      if (x && *x == meant) return toml_string(name);
    }
    return std::string();
  };
  return binding;
}

// Any text that is not empty.
template <typename Spec>
Binding<Spec> text(std::string Spec::*member) {
  return {
      "a text",
      {},
      {},
      [=](Spec& spec, const Value& value, const Context&) {
        if (value.type != Value::Type::kText || value.written.empty()) return false;
        spec.*member = value.written;
        return true;
      },
      [=](const Spec& spec) { return (spec.*member).empty() ? std::string() : toml_string(spec.*member); }};
}

// The path as it is from the current folder, without a.. detours.
std::filesystem::path resolved_path(const std::string& written, const Context& context);
std::string path_toml(const std::filesystem::path& path);  // absolute; empty for an empty path

// A file that must be there.
template <typename Spec>
Binding<Spec> input_file(std::filesystem::path Spec::*member) {
  return {"the path of a file",
          {},
          {},
          [=](Spec& spec, const Value& value, const Context& context) {
            if (value.type != Value::Type::kText || value.written.empty()) return false;
            spec.*member = resolved_path(value.written, context);
            std::error_code ignored;
            if (!std::filesystem::exists(spec.*member, ignored)) {
              throw Missing(fmt::format("no file '{}'", (spec.*member).string()));
            }
            if (std::filesystem::is_directory(spec.*member, ignored)) {
              throw Missing(fmt::format("'{}' is a folder, not a file", (spec.*member).string()));
            }
            return true;
          },
          [=](const Spec& spec) { return path_toml(spec.*member); }};
}

}  // namespace shoal::engine::config
