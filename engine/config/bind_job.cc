#include "engine/config/bind_job.h"

#include <algorithm>

#include "engine/config/check_job.h"
#include "engine/config/keys.h"
#include "engine/config/templates.h"

namespace shoal::engine::config {
namespace {

// A cell "7" is a number where the key takes one, else a text: a customer may be called 7.
void set(const Key<JobSpec>& key, JobSpec& job, const Value& value, const Context& context) {
  if (!value.is_data || value.type == Value::Type::kText) return set_key(key, job, value, context);
  try {
    set_key(key, job, value, context);
  } catch (const Missing&) {
    throw;
  } catch (const Error& as_number) {
    Value text = value;
    text.type = Value::Type::kText;
    try {
      set_key(key, job, text, context);
    } catch (const Missing&) {
      throw;
    } catch (const Error&) {
      throw Error(as_number);
    }
  }
}

}  // namespace

std::string resolve_name(const RawJob& raw, Problems& problems) {
  const auto found = raw.values.find("name");
  if (found == raw.values.end()) {
    problems.add(raw.place, "the job has no name");
    return {};
  }
  try {
    JobSpec job;
    set(*find_job_key("name"), job, Templates(raw).resolve("name", found->second), {});
    return job.name;
  } catch (const Error& error) {
    problems.add(found->second.place, error.what());
    return {};
  }
}

JobSpec bind_job(const RawJob& raw, const std::string& name, OnError on_error, const Context& context,
                 Problems& problems) {
  JobSpec job;
  job.name = name;
  job.where = raw.place.text();
  const Templates templates(raw);
  const auto bind = [&](const Key<JobSpec>& key, const Value& value) {
    try {
      const Value resolved = templates.resolve(key.name, value);
      if (std::ranges::find(raw.varied, key.name) != raw.varied.end()) {
        job.variables[key.name] = resolved.compact();
      }
      set(key, job, resolved, context);
    } catch (const Missing& missing) {
      if (on_error == OnError::kRefuse) {
        problems.add(value.place, missing.what());
      } else if (job.refused.empty()) {
        job.refused = fmt::format("{}: error: {}", value.place.text(), missing.what());
      }
    } catch (const Error& error) {
      problems.add(value.place, error.what());
    }
  };
  for (const auto& [name_of_key, value] : raw.values) {
    if (name_of_key != "name") bind(*find_job_key(name_of_key), value);
  }
  for (const auto& [variable, value] : raw.variables) {
    try {
      job.variables[variable] = templates.resolve(variable, value).compact();
    } catch (const Error& error) {
      problems.add(value.place, error.what());
    }
  }
  if (raw.is_drawn) job.variables["trial"] = fmt::format("{}", raw.trial);
  if (raw.fold) job.variables["fold"] = fmt::format("{}", *raw.fold);
  check_job(raw, job, problems);
  return job;
}

}  // namespace shoal::engine::config
