// Which view a run gets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/job_spec.h"
#include "engine/observer.h"

namespace shoal::cli {

// "auto" (live on a terminal, else plain), "plain", "json", "none".
const std::vector<std::string>& progress_modes();

// Views write to standard output. `fleet` must outlive the view.
std::unique_ptr<engine::Observer> make_progress(const std::string& mode, const engine::FleetSpec& fleet);

}  // namespace shoal::cli
