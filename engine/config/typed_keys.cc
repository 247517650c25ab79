#include "engine/config/typed_keys.h"

#include <fnmatch.h>

#include "data/text_error.h"
#include "engine/config/foreign_keys.h"
#include "engine/config/keys.h"

namespace shoal::engine::config {
namespace {

void check_known(const TypedKey& typed, const std::string& text) {
  const bool of_fleet = typed.scope == TypedKey::Scope::kFleet;
  if (of_fleet ? find_fleet_key(typed.key) != nullptr : find_job_key(typed.key) != nullptr) return;
  if (const std::string_view answer = foreign_key_answer(typed.key); !answer.empty()) {
    throw UsageError(fmt::format("--set {}: error: {}: {}", text, typed.key, answer));
  }
  throw UsageError(fmt::format("--set {}: error: unknown key {}", text, data::in_quotes(typed.key)) +
                   data::allowed_and_nearest(typed.key, of_fleet ? fleet_key_names() : job_key_names()));
}

}  // namespace

TypedKey parse_typed_key(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string path = text.substr(0, equals);
  const std::size_t first = path.find('.');
  const std::size_t last = path.rfind('.');
  TypedKey typed;
  const std::string scope = path.substr(0, first);
  const bool two = first != std::string::npos && first == last;
  if (equals != std::string::npos && two && (scope == "fleet" || scope == "defaults")) {
    typed.scope = scope == "fleet" ? TypedKey::Scope::kFleet : TypedKey::Scope::kAllJobs;
  } else if (equals != std::string::npos && scope == "job" && first + 1 < last) {
    typed.scope = TypedKey::Scope::kOneJob;
    typed.job = path.substr(first + 1, last - first - 1);  // a name may hold dots, a key does not
  } else {
    throw UsageError(
        fmt::format("--set {}: error: not of the form defaults.KEY=VALUE, job.NAME.KEY=VALUE or "
                    "fleet.KEY=VALUE",
                    text));
  }
  typed.key = path.substr(last + 1);
  check_known(typed, text);
  typed.value = parse_typed_value(text.substr(equals + 1), {"--set " + text, 0, 0});
  return typed;
}

bool matches_glob(const std::string& name, const std::string& glob) {
  return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

}  // namespace shoal::engine::config
