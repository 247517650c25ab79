// How a user's text file is complained about: `file:line:col: error: what; allowed: ...; did you mean ...`,
// with the parts left out that are not known. One form for data files, vocabularies and fleet files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace shoal::data {

// Throws Error("FILE:LINE:COL: error: WHAT"); line or column 0 = not known, left out.
[[noreturn]] void fail_at(const std::filesystem::path& file, std::int64_t line, std::int64_t column,
                          std::string_view what);

// "; allowed: a, b, c" with at most 20 names (the rest counted), plus "; did you mean 'b'?" where one
// name is near enough to `wanted`. Empty where there are no names.
std::string allowed_and_nearest(std::string_view wanted, std::span<const std::string> names);

// The nearest of `names` by edit distance with upper and lower case alike (a swap of two neighbours is
// one edit), "" where none is within a third of the length. Ties: the first.
std::string nearest_name(std::string_view wanted, std::span<const std::string> names);

// A user's value inside a message: in quotes, control characters escaped, cut after 60 characters.
std::string in_quotes(std::string_view value);

}  // namespace shoal::data
