#include "engine/config/sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/text_error.h"
#include "engine/config/foreign_keys.h"
#include "engine/config/keys.h"

namespace shoal::engine::config {
namespace {

bool is_section(std::string_view key) {
  return std::ranges::find(section_names(), key) != section_names().end();
}

void read_fleet(const Value& section, Sections& sections, Problems& problems) {
  for (const Entry& entry : section.table) {
    if (find_fleet_key(entry.key)) {
      sections.fleet.push_back(entry);
    } else if (is_section(entry.key)) {
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

void read_defaults(const Value& section, Sections& sections, Problems& problems) {
  Table keys = section.table;
  if (const auto use = take(keys, "use")) sections.use = read_use(use->value, problems);
  read_job_keys(keys, "[defaults]", sections.defaults, problems);
}

void read_presets(const Value& section, Sections& sections, Problems& problems) {
  for (const Entry& preset : section.table) {
    if (preset.value.type != Value::Type::kTable) {
      problems.add(preset.place,
                   fmt::format("{} in [preset]; allowed: keys in sections [preset.NAME]", preset.key));
      continue;
    }
    Table& keys = sections.presets[preset.key];
    read_job_keys(preset.value.table, fmt::format("[preset.{}]", preset.key), keys, problems);
    if (const auto name = take(keys, "name")) {
      problems.add(name->place,
                   fmt::format("name in [preset.{}]; a job's name belongs in its [[job]]", preset.key));
    }
  }
}

// One trunk that several heads share: read and checked as a later version will, so that its mistakes show,
// and refused.
void read_trunk(const Value& trunk, Sections& sections, Problems& problems) {
  problems.add(trunk.place, fmt::format("[[trunk]]: {}", foreign_key_answer("trunk")));
  Table keys = trunk.table;
  const auto name = take(keys, "name");
  if (!name || name->value.type != Value::Type::kText || name->value.written.empty()) {
    problems.add(name ? name->value.place : trunk.place,
                 fmt::format("the trunk {}; allowed: a name that jobs give as their trunk",
                             name ? "has the name " + name->value.shown() : "has no name"));
    return;
  }
  const std::string& text = name->value.written;
  if (sections.trunks.contains(text)) {
    problems.add(name->value.place, fmt::format("two trunks have the name {}", data::in_quotes(text)));
  }
  if (const auto mode = take(keys, "mode")) {
    const std::vector<std::string> modes = {"joint", "frozen"};
    if (std::ranges::find(modes, mode->value.written) == modes.end()) {
      problems.add(mode->value.place, fmt::format("mode is {}", mode->value.shown()) +
                                          data::allowed_and_nearest(mode->value.written, modes));
    }
  }
  read_job_keys(keys, "[[trunk]]", sections.trunks[text], problems);
}

void read_job(const Value& job, Sections& sections, Problems& problems) {
  if (job.type == Value::Type::kTable) {
    sections.jobs.push_back(read_job_block(job, problems));
  } else {
    problems.add(job.place,
                 fmt::format("a job is {}; allowed: a table such as {{ name = \"a\" }}", job.shown()));
  }
}

bool is_table(const Entry& entry, Problems& problems) {
  if (entry.value.type == Value::Type::kTable) return true;
  problems.add(entry.place, fmt::format("{0} is {1}; allowed: a section [{0}{2}]", entry.key,
                                        entry.value.shown(), entry.key == "preset" ? ".NAME" : ""));
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

void read_trunks(const Entry& entry, Sections& sections, Problems& problems) {
  const auto is_table = [](const Value& item) { return item.type == Value::Type::kTable; };
  if (entry.value.type == Value::Type::kArray && std::ranges::all_of(entry.value.items, is_table)) {
    for (const Value& trunk : entry.value.items) read_trunk(trunk, sections, problems);
  } else {
    problems.add(entry.place, "a trunk is written [[trunk]], with two brackets");
  }
}

void read_stray_key(const Entry& entry, Problems& problems) {
  if (find_job_key(entry.key)) {
    problems.add(entry.place,
                 fmt::format("{} is outside of any section; move it to [defaults] or a [[job]]", entry.key));
  } else if (find_fleet_key(entry.key)) {
    problems.add(entry.place, fmt::format("{} is outside of any section; move it to [fleet]", entry.key));
  } else if (const std::string_view answer = foreign_key_answer(entry.key); !answer.empty()) {
    problems.add(entry.place, fmt::format("{}: {}", entry.key, answer));
  } else {
    problems.add(entry.place, "unknown section " + data::in_quotes(entry.key) +
                                  data::allowed_and_nearest(entry.key, section_names()));
  }
}

}  // namespace

Sections read_sections(const Value& file, Problems& problems) {
  Sections sections;
  for (const Entry& entry : file.table) {
    if (entry.key == "fleet") {
      if (is_table(entry, problems)) read_fleet(entry.value, sections, problems);
    } else if (entry.key == "defaults") {
      if (is_table(entry, problems)) read_defaults(entry.value, sections, problems);
    } else if (entry.key == "preset") {
      if (is_table(entry, problems)) read_presets(entry.value, sections, problems);
    } else if (entry.key == "trunk") {
      read_trunks(entry, sections, problems);
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
