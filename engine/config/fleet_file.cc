#include "engine/config/fleet_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "data/text_error.h"
#include "engine/config/bind_job.h"
#include "engine/config/check_job.h"
#include "engine/config/keys.h"
#include "engine/config/sections.h"
#include "engine/config/typed_keys.h"

namespace shoal::engine {
namespace {

using namespace config;

std::string read_all(const std::filesystem::path& file) {
  constexpr std::uintmax_t kMostBytes = 64 << 20;
  std::error_code ignored;
  require(!std::filesystem::is_directory(file, ignored), "{}: error: a folder; the fleet file is wanted",
          file.string());
  std::ifstream in(file, std::ios::binary);
  require(in.good(), "{}: error: cannot be opened", file.string());
  const std::uintmax_t bytes = std::filesystem::file_size(file, ignored);
  require(ignored || bytes <= kMostBytes, "{}: error: {} bytes; allowed: 64 MB", file.string(), bytes);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void bind_fleet(const Sections& sections, const std::vector<TypedKey>& typed, FleetSpec& fleet,
                const Context& context, Problems& problems) {
  const auto bind = [&](const std::string& key, const Value& value) {
    try {
      set_key(*find_fleet_key(key), fleet, value, context);
    } catch (const Error& error) {
      problems.add(value.place, error.what());
    }
  };
  for (const Entry& entry : sections.fleet) bind(entry.key, entry.value);
  for (const TypedKey& key : typed) {
    if (key.scope == TypedKey::Scope::kFleet) bind(key.key, key.value);
  }
  if (fleet.output_dir.empty()) fleet.output_dir = context.base / "runs" / fleet.file.stem();
}

// --set job.NAME.KEY; the name stays as it is, so that the job keeps its folder.
void set_typed(const std::vector<TypedKey>& typed, const std::vector<std::string>& names,
               std::vector<RawJob>& jobs) {
  for (const TypedKey& key : typed) {
    if (key.scope != TypedKey::Scope::kOneJob) continue;
    if (key.key == "folds") {
      throw UsageError(
          fmt::format("{}: error: folds make jobs; allowed: --set defaults.folds=N", key.value.place.text()));
    }
    const auto found = std::ranges::find(names, key.job);
    if (found == names.end()) {
      throw UsageError(fmt::format("{}: error: no job {}", key.value.place.text(), data::in_quotes(key.job)) +
                       data::allowed_and_nearest(key.job, names));
    }
    jobs[static_cast<std::size_t>(found - names.begin())].values[key.key] = key.value;
  }
}

std::vector<bool> selected(const std::vector<std::string>& only, const std::vector<std::string>& names) {
  std::vector<bool> chosen(names.size(), only.empty());
  for (const std::string& glob : only) {
    bool any = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!matches_glob(names[i], glob)) continue;
      chosen[i] = any = true;
    }
    if (!any) {
      throw UsageError(fmt::format("--only {}: error: matches no job", glob) +
                       data::allowed_and_nearest(glob, names));
    }
  }
  return chosen;
}

}  // namespace

FleetSpec parse_fleet(const std::string& text, const std::filesystem::path& file,
                      const FleetFileOptions& options) {
  std::vector<TypedKey> typed;
  for (const std::string& set : options.set) typed.push_back(parse_typed_key(set));

  const Value top = parse_toml(text, file);
  Problems problems;
  FleetSpec fleet;
  fleet.file = file;
  const Context context{file.parent_path()};
  const Sections sections = read_sections(top, problems);
  bind_fleet(sections, typed, fleet, context, problems);

  std::vector<RawJob> jobs = expand(sections, typed, context, problems);
  std::vector<std::string> names;
  for (const RawJob& job : jobs) names.push_back(resolve_name(job, problems));
  check_names(jobs, names, problems);
  if (problems.empty()) set_typed(typed, names, jobs);

  const std::vector<bool> chosen =
      problems.empty() ? selected(options.only, names) : std::vector<bool>(jobs.size(), true);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (chosen[i]) fleet.jobs.push_back(bind_job(jobs[i], names[i], fleet.on_error, context, problems));
  }
  problems.refuse_if_any();
  return fleet;
}

FleetSpec read_fleet_file(const std::filesystem::path& file, const FleetFileOptions& options) {
  return parse_fleet(read_all(file), file, options);
}

}  // namespace shoal::engine
