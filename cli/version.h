#pragma once

#include <string>

namespace shoal::cli {

// "shoal 0.1.0 (commit 0123456789ab)"; "+" behind the commit: the tree had changes when it was built.
std::string version_line();

}  // namespace shoal::cli
