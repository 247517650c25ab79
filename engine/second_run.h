// What a resumed run finds in its output_dir.
//
// A job is done if its folder holds job.toml, which is written last. It is kept if that file says what would
// be written now: every key, with "auto" resolved as this machine resolves it, and the sha256 of data and
// weights (the version and the device may differ). Done jobs that differ are listed, a line a difference, and
// refused, unless the fleet is to overwrite: then they are trained anew, as are jobs that were not done. What
// a kept job measured is read from fleet.jsonl (engine/fleet_log.h). Folders of jobs that the fleet file no
// longer has are left alone and named; their rows stay in results.csv.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/job_spec.h"
#include "engine/observer.h"
#include "engine/prepare.h"

namespace shoal::engine {

struct SecondRun {
  std::vector<JobResult> kept;     // of jobs of the fleet, in file order
  std::vector<JobSpec> gone;       // name and variables alone
  std::vector<JobResult> of_gone;  // the same order; job counts on after the fleet's jobs
  std::vector<std::string> notes;  // one line each

  bool keeps(std::int64_t job) const;
};

// Error: done jobs that differ, or a folder that is no run. Nothing is written.
SecondRun read_earlier_run(const FleetSpec& fleet, Preparer& preparer);

}  // namespace shoal::engine
