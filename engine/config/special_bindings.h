// Bindings of keys that take more than a number, a text or a choice.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/table.h"
#include "engine/config/binding.h"
#include "engine/job_spec.h"

namespace shoal::engine::config {

Binding<JobSpec> job_name();  // path-safe; see bad_job_name
Binding<JobSpec> model();     // folder | hub id | { preset, vocab }
Binding<JobSpec> column(data::Column JobSpec::*member);
Binding<JobSpec> column(std::optional<data::Column> JobSpec::*member);
Binding<JobSpec> delimiter();     // one character
Binding<JobSpec> encoding();      // a name that iconv or Python knows
Binding<JobSpec> gemm();          // the engine's own GEMM is the only one yet
Binding<JobSpec> max_steps();     // -1, or at least 1
Binding<JobSpec> warmup_steps();  // updates, or a share
Binding<JobSpec> metric();        // "f1" and "eval_f1" are the same
Binding<FleetSpec> output_folder(std::filesystem::path FleetSpec::*member);
Binding<FleetSpec> slots();      // "auto", or at least 1
Binding<FleetSpec> report_to();  // "none"

// A column as a text names it, or a number from 1; and as TOML again.
std::optional<data::Column> column_of(const Value& value);
std::string column_toml(const data::Column& column);

// Why a job may not have this name, or empty: it becomes a folder, in an `rm` and in a CSV cell.
std::string bad_job_name(std::string_view name);

}  // namespace shoal::engine::config
