// The forms of `model`: a folder, a hub id looked up in the local Hugging Face cache (never downloaded),
// or a preset with random weights.
#pragma once

#include <filesystem>
#include <string>

#include "engine/config/binding.h"
#include "engine/job_spec.h"

namespace shoal::engine::config {

// A folder relative to `base`, else a hub id in the cache. Missing, with the command that downloads it
// where that would help.
ModelSource find_model(const std::string& name, const std::filesystem::path& base);

// { preset, vocab }. Error for anything else in the table, Missing where there is no vocabulary.
ModelSource preset_model(const Value& table, const Context& context);

// $HF_HUB_CACHE, $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub or ~/.cache/huggingface/hub, as
// huggingface_hub takes them.
std::filesystem::path hub_cache();

}  // namespace shoal::engine::config
