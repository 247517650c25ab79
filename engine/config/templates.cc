#include "engine/config/templates.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/text_error.h"
#include "engine/config/foreign_keys.h"
#include "engine/config/keys.h"
#include "kernels/base/error.h"

namespace shoal::engine::config {
namespace {

// "03": digits to fill up to, with zeros; "3": with blanks, which no name wants, so the zero must be there.
std::size_t zero_width(std::string_view format, std::string_view whole) {
  const bool fits = format.size() >= 2 && format.size() <= 3 && format[0] == '0' &&
                    format.find_first_not_of("0123456789") == std::string_view::npos;
  require(fits, "'{{{}}}' in a template; allowed: a number of digits such as {{trial:03}}", whole);
  return static_cast<std::size_t>(std::stoul(std::string(format)));
}

// The value of a key that the job does not set; empty: it has none.
std::string default_value(const Key<JobSpec>& key) {
  const std::string toml = key.binding.get(JobSpec{});
  return toml.starts_with('"') ? toml.substr(1, toml.size() - 2) : toml;
}

}  // namespace

bool holds_template(const std::string& text, const std::string& name) {
  return text.find("{" + name + "}") != std::string::npos || text.find("{" + name + ":") != std::string::npos;
}

Value Templates::resolve(const std::string& key, const Value& value) const {
  Value resolved = value;
  std::vector<std::string> open = {key};
  if (value.is_data) return resolved;
  if (value.type == Value::Type::kText) resolved.written = fill(value.written, open);
  for (Entry& entry : resolved.table) {
    if (entry.value.type == Value::Type::kText) entry.value.written = fill(entry.value.written, open);
  }
  return resolved;
}

std::string Templates::fill(const std::string& text, std::vector<std::string>& open) const {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool doubled = at + 1 < text.size() && text[at + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      out += c;
      ++at;
    } else if (c == '{') {
      const std::size_t end = text.find('}', at);
      require(end != std::string::npos, "'{{' without '}}' in {}; a brace itself is written '{{{{'",
              data::in_quotes(text));
      const std::string whole = text.substr(at + 1, end - at - 1);
      const std::size_t colon = whole.find(':');
      bool is_integer = false;
      std::string value = lookup(whole.substr(0, colon), open, is_integer);
      if (colon != std::string::npos) {
        const std::size_t width = zero_width(std::string_view(whole).substr(colon + 1), whole);
        require(is_integer, "'{{{}}}' in a template: {} is no integer", whole, whole.substr(0, colon));
        if (value.size() < width) value.insert(0, width - value.size(), '0');
      }
      out += value;
      at = end;
    } else {
      out += c;
    }
  }
  return out;
}

std::string Templates::lookup(const std::string& name, std::vector<std::string>& open,
                              bool& is_integer) const {
  if (name == "trial") {
    is_integer = true;
    return fmt::format("{}", job_.trial);
  }
  if (name == "fold") {
    require(job_.fold.has_value(), "{{fold}} in a template, but the job has no folds");
    is_integer = true;
    return fmt::format("{}", *job_.fold);
  }
  require(std::ranges::find(open, name) == open.end(), "{{{}}} needs itself in a template", name);
  if (const Value* found = job_.find(name)) {
    const Value& value = *found;
    is_integer = value.type == Value::Type::kInteger;
    if (value.is_data) return value.written;
    if (value.type == Value::Type::kText) {
      open.push_back(name);
      std::string text = fill(value.written, open);
      open.pop_back();
      return text;
    }
    require(value.is_number() || value.type == Value::Type::kBool, "{{{}}} in a template, but {} is {}", name,
            name, value.shown());
    return value.written;
  }
  if (const Key<JobSpec>* key = find_job_key(name)) {
    std::string value = default_value(*key);
    require(!value.empty(), "{{{}}} in a template, but the job has no {}", name, name);
    is_integer = value.find_first_not_of("0123456789") == std::string::npos;
    return value;
  }
  std::vector<std::string> known = job_key_names();
  known.insert(known.end(), {"trial", "fold"});
  std::string what =
      fmt::format("unknown name '{{{}}}' in a template; allowed: the keys of a job, trial, fold", name);
  for (const auto& [variable, unused] : job_.variables) {
    what += ", " + variable;
    known.push_back(variable);
  }
  if (const std::string near = data::nearest_name(name, known); !near.empty())
    what += fmt::format("; did you mean '{}'?", near);
  throw Error(what);
}

}  // namespace shoal::engine::config
