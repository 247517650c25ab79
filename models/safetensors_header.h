// The JSON header of a safetensors file, parsed event by event: no tree is built, so that a hostile header
// costs no more than its own length and a key given twice is seen.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/safetensors.h"

namespace shoal::models {

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // in the header's order
  std::map<std::string, std::string> metadata;
};

// Error: not the JSON the format asks for. Ranges and shapes are not yet checked against anything.
SafetensorsHeader parse_safetensors_header(const std::filesystem::path& file, std::string_view text);

// Bits of one element of a safetensors type; 0 = no such type.
unsigned bits_of(std::string_view dtype);

}  // namespace shoal::models
