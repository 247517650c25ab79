// What a finished job leaves: a Hugging Face folder, with job.toml last as the mark that it is whole.
#pragma once

#include <filesystem>
#include <span>

#include "engine/prepare.h"
#include "models/layout.h"

namespace shoal::engine {

// Writes config.json, model.safetensors, the tokenizer's files and job.toml into `folder`. row: the job's
// parameters as the group's layout has them.
void export_job(const std::filesystem::path& folder, const PreparedJob& job, const models::Layout& layout,
                std::span<const float> row);

}  // namespace shoal::engine
