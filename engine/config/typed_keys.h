// What the command line says about a fleet: --set KEY=VALUE and --only GLOB.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/config/value.h"
#include "kernels/base/error.h"

namespace shoal::engine::config {

// Typed in a form that cannot be understood: a mistake of usage, not of the file.
class UsageError : public Error {
 public:
  using Error::Error;
};

struct TypedKey {
  enum class Scope : std::uint8_t { kFleet, kAllJobs, kOneJob };
  Scope scope = Scope::kAllJobs;
  std::string job;  // kOneJob
  std::string key;
  Value value;
};

// "fleet.slots=2", "defaults.seed=3" (every job, whatever the file says), "job.NAME.seed=3".
// UsageError for another form or an unknown key.
TypedKey parse_typed_key(const std::string& text);

// As a shell matches file names, but * goes over slashes too.
bool matches_glob(const std::string& name, const std::string& glob);

}  // namespace shoal::engine::config
