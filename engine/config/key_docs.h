// The key table in words: for `shoal help KEY` and for docs/fleet-file.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shoal::engine {

// A paragraph about one key of [fleet] or of a job, or the answer to a foreign one; none: unknown.
std::optional<std::string> key_help(std::string_view name);

// All keys, a line each.
std::string key_list();

// "; allowed: ...; did you mean ..." for a name that key_help does not know.
std::string key_suggestion(std::string_view name);

// docs/fleet-file.md, whole.
std::string fleet_file_markdown();

}  // namespace shoal::engine
