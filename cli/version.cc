#include "cli/version.h"

#include "commit.h"  // written at build time, see write_commit.cmake

namespace shoal::cli {

std::string version_line() {
  return "shoal " SHOAL_VERSION " (commit " SHOAL_COMMIT ")";
}

}  // namespace shoal::cli
