// A JSON file, or a line of one, read with errors in the form of text_error.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace shoal::data {

// Error with line and column if the file cannot be read or is not JSON.
nlohmann::json read_json(const std::filesystem::path& file);

// Parses `text`, which starts on `line` of `file`.
nlohmann::json parse_json(std::string_view text, const std::filesystem::path& file, std::int64_t line);

}  // namespace shoal::data
