#include "engine/config/bind_job.h"

#include <algorithm>

#include "engine/config/check_job.h"
#include "engine/config/keys.h"
#include "engine/config/templates.h"

namespace shoal::engine::config {

std::string resolve_name(const RawJob& raw, Problems& problems) {
  const auto found = raw.values.find("name");
  if (found == raw.values.end()) {
    problems.add(raw.place, "the job has no name");
    return {};
  }
  try {
    JobSpec job;
    set_key(*find_job_key("name"), job, Templates(raw).resolve("name", found->second), {});
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
      if (std::ranges::find(raw.swept, key.name) != raw.swept.end()) {
        job.variables[key.name] = resolved.type == Value::Type::kTable ? resolved.shown() : resolved.written;
      }
      set_key(key, job, resolved, context);
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
  check_job(raw, job, problems);
  return job;
}

}  // namespace shoal::engine::config
