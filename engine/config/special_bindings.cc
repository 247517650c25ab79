#include "engine/config/special_bindings.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "data/text_decoder.h"
#include "data/utf8.h"
#include "engine/config/find_model.h"
#include "engine/metric_names.h"

namespace shoal::engine::config {
namespace {

template <typename Member>
Binding<JobSpec> column_binding(Member JobSpec::*member) {
  return {"a column's name, or its number from 1",
          {},
          {},
          [=](JobSpec& job, const Value& value, const Context&) {
            const auto column = column_of(value);
            if (column) job.*member = *column;
            return column.has_value();
          },
          [=](const JobSpec& job) {
            const data::Column* set = detail::present(job.*member);
            return set ? column_toml(*set) : std::string();
          }};
}

std::vector<std::string> split_path(std::string_view name) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t slash = name.find('/');
    parts.emplace_back(name.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    name.remove_prefix(slash + 1);
  }
}

bool has_control_character(std::string_view name) {
  for (std::size_t at = 0; at < name.size();) {
    const char32_t point = data::decode_utf8(name, at);
    if (point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x2028 || point == 0x2029) return true;
  }
  return false;
}

// A key of which only one value exists yet: nothing is kept.
template <typename Spec>
Binding<Spec> only_value(const std::string& value, std::vector<std::string> aliases,
                         std::vector<std::string> later, bool is_shown) {
  Binding<Spec> binding{"one of", value, {value}, {}, {}, std::move(later)};
  for (const std::string& alias : aliases) {
    binding.range += ", " + alias;
    binding.choices.push_back(alias);
  }
  binding.set = [names = binding.choices](Spec&, const Value& given, const Context&) {
    return given.type == Value::Type::kText && std::ranges::find(names, given.written) != names.end();
  };
  binding.get = [=](const Spec&) { return is_shown ? toml_string(value) : std::string(); };
  return binding;
}

}  // namespace

std::optional<data::Column> column_of(const Value& value) {
  constexpr std::int64_t kMostColumns = 1'000'000;
  if (value.type == Value::Type::kText && !value.written.empty()) return data::Column::named(value.written);
  if (value.type != Value::Type::kInteger || value.integer < 1 || value.integer > kMostColumns) return {};
  return data::Column::numbered(static_cast<int>(value.integer));
}

std::string column_toml(const data::Column& column) {
  return column.number > 0 ? std::to_string(column.number) : toml_string(column.name);
}

std::string bad_job_name(std::string_view name) {
  constexpr std::size_t kLongestPart = 200;  // file systems take 255 bytes; temporary names add to it
  if (name.empty()) return "is empty";
  if (data::first_invalid_utf8(name) != name.size()) return "is not UTF-8";
  if (has_control_character(name)) return "has a control character";
  if (name.front() == '/') return "starts with '/'";
  if (name == "results.csv" || name == "fleet.jsonl") return "is the name of a file of the run";
  for (const std::string& part : split_path(name)) {
    if (part.empty()) return "has an empty part between or after '/'";
    if (part.front() == '.') return "has a part that starts with '.'";
    if (part.size() > kLongestPart) return fmt::format("has a part of more than {} bytes", kLongestPart);
  }
  return {};
}

Binding<JobSpec> job_name() {
  Binding<JobSpec> binding = text(&JobSpec::name);
  binding.type = "a text that can be a folder's name";
  binding.set = [set = binding.set](JobSpec& job, const Value& value, const Context& context) {
    if (!set(job, value, context)) return false;
    if (const std::string why = bad_job_name(value.written); !why.empty()) {
      throw Error(fmt::format("{} {}, so it cannot be a folder's name", value.shown(), why));
    }
    return true;
  };
  return binding;
}

Binding<JobSpec> model() {
  return {"a folder, a hub id, or { preset, vocab }",
          {},
          {},
          [](JobSpec& job, const Value& value, const Context& context) {
            if (value.type == Value::Type::kText && !value.written.empty()) {
              job.model = find_model(value.written, context.base);
            } else if (value.type == Value::Type::kTable) {
              job.model = preset_model(value, context);
            } else {
              return false;
            }
            return true;
          },
          [](const JobSpec& job) {
            if (job.model.preset.empty()) return path_toml(job.model.folder);
            return fmt::format("{{ preset = {}, vocab = {} }}", toml_string(job.model.preset),
                               path_toml(job.model.vocab));
          }};
}

Binding<JobSpec> column(data::Column JobSpec::*member) {
  return column_binding(member);
}
Binding<JobSpec> column(std::optional<data::Column> JobSpec::*member) {
  return column_binding(member);
}

Binding<JobSpec> gemm() {
  return only_value<JobSpec>("own", {"auto"}, {}, true);
}

Binding<FleetSpec> report_to() {
  return only_value<FleetSpec>("none", {}, {"all", "tensorboard", "wandb", "mlflow", "comet_ml", "clearml"},
                               false);
}

Binding<JobSpec> encoding() {
  Binding<JobSpec> binding = text(&JobSpec::encoding);
  binding.type = "a name that iconv or Python knows, such as utf-8, latin-1, cp1252 or utf-16";
  binding.set = [set = binding.set](JobSpec& job, const Value& value, const Context& context) {
    return set(job, value, context) && data::known_encoding(job.encoding);
  };
  return binding;
}

Binding<JobSpec> delimiter() {
  return {"one ASCII character, such as \";\" or \"\\t\"",
          {},
          {},
          [](JobSpec& job, const Value& value, const Context&) {
            // 'single quotes' keep the backslash; what was meant is plain.
            const std::string written = value.written == "\\t" ? "\t" : value.written;
            if (value.type != Value::Type::kText || written.size() != 1) return false;
            if (static_cast<unsigned char>(written[0]) >= 0x80 || written == "\n" || written == "\r" ||
                written == "\"") {
              return false;
            }
            job.delimiter = written;
            return true;
          },
          [](const JobSpec& job) { return job.delimiter ? toml_string(*job.delimiter) : std::string(); }};
}

Binding<JobSpec> max_steps() {
  Binding<JobSpec> binding = integer(&JobSpec::max_steps, at_least(1));
  binding.range = ">= 1, or -1 for none";
  binding.set = [set = binding.set](JobSpec& job, const Value& value, const Context& context) {
    if (value.type != Value::Type::kInteger || value.integer != -1) return set(job, value, context);
    job.max_steps = -1;
    return true;
  };
  return binding;
}

Binding<JobSpec> warmup_steps() {
  Binding<JobSpec> binding = number(&JobSpec::warmup_steps, at_least(0));
  binding.range = "that is an integer >= 0 (updates) or in [0, 1) (a share of all updates)";
  binding.set = [set = binding.set](JobSpec& job, const Value& value, const Context& context) {
    if (value.is_number() && value.real >= 1 && value.real != std::floor(value.real)) return false;
    return set(job, value, context);
  };
  binding.get = [](const JobSpec& job) { return count_text(job.warmup_steps); };
  return binding;
}

Binding<JobSpec> metric() {
  Binding<JobSpec> binding = text(&JobSpec::metric_for_best_model);
  binding.type = "one of";
  binding.choices = metric_names(2);
  for (const std::string& name : regression_metric_names()) {
    if (name != "loss") binding.choices.push_back(name);
  }
  binding.range = fmt::format("{}", fmt::join(binding.choices, ", "));
  binding.set = [names = binding.choices](JobSpec& job, const Value& value, const Context&) {
    if (value.type != Value::Type::kText) return false;
    const std::string name{without_eval(value.written)};
    if (std::ranges::find(names, name) == names.end()) return false;
    job.metric_for_best_model = name;
    return true;
  };
  return binding;
}

Binding<FleetSpec> output_folder(std::filesystem::path FleetSpec::*member) {
  return {"the path of a folder",
          {},
          {},
          [=](FleetSpec& fleet, const Value& value, const Context& context) {
            if (value.type != Value::Type::kText || value.written.empty()) return false;
            fleet.*member = resolved_path(value.written, context);
            return true;
          },
          [=](const FleetSpec& fleet) { return path_toml(fleet.*member); }};
}

Binding<FleetSpec> slots() {
  Binding<FleetSpec> binding = integer(&FleetSpec::slots, at_least(1));
  binding.range = ">= 1, or \"auto\"";
  binding.set = [set = binding.set](FleetSpec& fleet, const Value& value, const Context& context) {
    if (value.type != Value::Type::kText || value.written != "auto") return set(fleet, value, context);
    fleet.slots.reset();
    return true;
  };
  return binding;
}

}  // namespace shoal::engine::config
