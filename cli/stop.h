// SIGINT and SIGTERM: the first asks the run to stop at its next step, the second ends it at once.
#pragma once

#include <atomic>

namespace shoal::cli {

// Installs the handlers; the flag lives as long as the program.
const std::atomic<bool>& stop_on_signals();

}  // namespace shoal::cli
