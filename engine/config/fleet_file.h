// The fleet file: a TOML file that says which jobs there are (docs/fleet-file.md, INTERFACE of shoal).
//
// Reading goes in passes, each in a file of its own: parse_toml -> sections (known keys) -> expand (defaults,
// presets, each, sweep, --set, folds) -> templates -> bind_job (values, ranges, files on disk) -> check_job.
// Mistakes are collected over all passes and thrown as one Error, a line a mistake.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/job_spec.h"

namespace shoal::engine {

struct FleetFileOptions {
  std::vector<std::string> set;   // "defaults.learning_rate=3e-5", "job.NAME.seed=3", "fleet.slots=2"
  std::vector<std::string> only;  // globs on job names; empty: all jobs
};

// Error with all problems, one a line: `file:line:col: error: what; allowed: ...; did you mean ...`.
// config::UsageError where an option is of no known form or touches no job.
FleetSpec read_fleet_file(const std::filesystem::path& file, const FleetFileOptions& options = {});

// The same from text; `file` is for messages and for the folder that paths are relative to.
FleetSpec parse_fleet(const std::string& text, const std::filesystem::path& file,
                      const FleetFileOptions& options = {});

}  // namespace shoal::engine
