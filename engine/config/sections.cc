#include "engine/config/sections.h"

#include <algorithm>

#include "data/text_error.h"
#include "engine/config/foreign_keys.h"
#include "engine/config/keys.h"

namespace shoal::engine::config {
namespace {

const std::vector<std::string> kSections = {"fleet", "defaults", "job"};

bool is_later_section(std::string_view key) {
  return key == "trunk" || key == "preset";
}

// Why `key` cannot stand in a section that takes `names`, as `place` is called.
std::string unknown_key(const std::string& key, const std::vector<std::string>& names,
                        std::string_view place) {
  if (const std::string_view answer = foreign_key_answer(key); !answer.empty()) {
    return fmt::format("{}: {}", key, answer);
  }
  return fmt::format("unknown key {} in {}", data::in_quotes(key), place) +
         data::allowed_and_nearest(key, names);
}

void read_fleet(const Value& section, Sections& sections, Problems& problems) {
  for (const Entry& entry : section.table) {
    if (find_fleet_key(entry.key)) {
      sections.fleet.push_back(entry);
    } else if (std::ranges::find(kSections, entry.key) != kSections.end()) {
      problems.add(entry.place,
                   fmt::format("{} is under [fleet]: in TOML a key belongs to the section above it; "
                               "move it above the first [section]",
                               entry.key));
    } else if (find_job_key(entry.key)) {
      problems.add(entry.place,
                   fmt::format("{} is a key of jobs; move it to [defaults] or a [[job]]", entry.key));
    } else {
      problems.add(entry.place, unknown_key(entry.key, fleet_key_names(), "[fleet]"));
    }
  }
}

// Keys of jobs; `section` is how it is called in messages.
void read_job_keys(const Table& table, std::string_view section, Table& keys, Problems& problems) {
  for (const Entry& entry : table) {
    if (find_job_key(entry.key)) {
      keys.push_back(entry);
    } else if (std::ranges::find(kSections, entry.key) != kSections.end()) {
      problems.add(entry.place, fmt::format("{} is under {}: in TOML a key belongs to the section above it; "
                                            "move it above the first [section]",
                                            entry.key, section));
    } else if (find_fleet_key(entry.key)) {
      problems.add(entry.place, fmt::format("{} is a key of the whole fleet; move it to [fleet]", entry.key));
    } else if (entry.key == "sweep") {
      problems.add(entry.place, fmt::format("sweep in {}; it belongs in a [[job]]", section));
    } else {
      problems.add(entry.place, unknown_key(entry.key, job_key_names(), section));
    }
  }
}

void read_sweep(const Value& sweep, Table& to, Problems& problems) {
  if (sweep.type != Value::Type::kTable) {
    problems.add(sweep.place, fmt::format("sweep is {}; allowed: sweep.KEY = [ values ]", sweep.shown()));
    return;
  }
  for (const Entry& entry : sweep.table) {
    if (!find_job_key(entry.key)) {
      problems.add(entry.place, unknown_key(entry.key, job_key_names(), "sweep"));
    } else if (entry.value.type == Value::Type::kTable) {
      problems.add(entry.place, fmt::format("sweep.{} draws from a range: not yet in this version of shoal; "
                                            "allowed: a list of values",
                                            entry.key));
    } else if (entry.value.type != Value::Type::kArray) {
      problems.add(entry.value.place,
                   fmt::format("sweep.{} is {}; allowed: a list of values", entry.key, entry.value.shown()));
    } else if (entry.value.items.empty()) {
      problems.add(entry.value.place,
                   fmt::format("sweep.{} is an empty list, so there would be no job", entry.key));
    } else {
      to.push_back(entry);
    }
  }
}

void read_job(const Value& job, Sections& sections, Problems& problems) {
  if (job.type != Value::Type::kTable) {
    problems.add(job.place,
                 fmt::format("a job is {}; allowed: a table such as {{ name = \"a\" }}", job.shown()));
    return;
  }
  JobBlock block{.place = job.place, .keys = {}, .sweep = {}};
  Table keys = job.table;
  if (const auto sweep = std::ranges::find(keys, "sweep", &Entry::key); sweep != keys.end()) {
    read_sweep(sweep->value, block.sweep, problems);
    keys.erase(sweep);
  }
  read_job_keys(keys, "[[job]]", block.keys, problems);
  sections.jobs.push_back(std::move(block));
}

bool is_table(const Entry& entry, Problems& problems) {
  if (entry.value.type == Value::Type::kTable) return true;
  problems.add(entry.place,
               fmt::format("{0} is {1}; allowed: a section [{0}]", entry.key, entry.value.shown()));
  return false;
}

void read_jobs(const Entry& entry, Sections& sections, Problems& problems) {
  if (entry.value.type == Value::Type::kArray) {
    for (const Value& job : entry.value.items) read_job(job, sections, problems);
  } else {
    problems.add(entry.place, entry.value.type == Value::Type::kTable
                                  ? "[job] is one table; a job is written [[job]], with two brackets"
                                  : fmt::format("job is {}; allowed: [[job]], or job = [ {{...}}, ... ]",
                                                entry.value.shown()));
  }
}

void read_stray_key(const Entry& entry, Problems& problems) {
  if (is_later_section(entry.key)) {
    problems.add(entry.place, fmt::format("{}: {}", entry.key, foreign_key_answer(entry.key)));
  } else if (find_job_key(entry.key)) {
    problems.add(entry.place,
                 fmt::format("{} is outside of any section; move it to [defaults] or a [[job]]", entry.key));
  } else if (find_fleet_key(entry.key)) {
    problems.add(entry.place, fmt::format("{} is outside of any section; move it to [fleet]", entry.key));
  } else if (const std::string_view answer = foreign_key_answer(entry.key); !answer.empty()) {
    problems.add(entry.place, fmt::format("{}: {}", entry.key, answer));
  } else {
    problems.add(entry.place, "unknown section " + data::in_quotes(entry.key) +
                                  data::allowed_and_nearest(entry.key, kSections));
  }
}

}  // namespace

Sections read_sections(const Value& file, Problems& problems) {
  Sections sections;
  for (const Entry& entry : file.table) {
    if (entry.key == "fleet") {
      if (is_table(entry, problems)) read_fleet(entry.value, sections, problems);
    } else if (entry.key == "defaults") {
      if (is_table(entry, problems))
        read_job_keys(entry.value.table, "[defaults]", sections.defaults, problems);
    } else if (entry.key == "job") {
      read_jobs(entry, sections, problems);
    } else {
      read_stray_key(entry, problems);
    }
  }
  if (sections.jobs.empty() && problems.empty()) {
    problems.add({file.place.file, 0, 0}, "there is no [[job]] in the file");
  }
  return sections;
}

}  // namespace shoal::engine::config
