// The labels of a config.json: id2label, label2id and num_labels, which may contradict one another.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace shoal::models {

// Label names by id; empty where the file names none. Where only label2id is there, its inverse.
// Error on: ids with holes, a name given twice, num_labels of another count, a name whose id differs
// between id2label and label2id.
std::vector<std::string> read_labels(const std::filesystem::path& file, const nlohmann::json& config);

}  // namespace shoal::models
