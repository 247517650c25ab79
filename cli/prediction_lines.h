// How predictions are shown: a line a text, a column a model.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/fleet.h"

namespace shoal::cli {

// "good 0.96   bad 0.04", the `top` likeliest labels; a regression's number. Several models: tabs between
// them.
std::string text_line(std::span<const engine::Predictions> models, std::int64_t row, std::int64_t top);

// One model: {"label", "score", "logits": {}, "probabilities": {}}, or {"value"} of a regression. Several:
// {"models": {NAME: that}}.
std::string json_line(std::span<const engine::Predictions> models, std::span<const std::string> names,
                      std::int64_t row);

// An ensemble's answer: the mean of the probabilities (the logits are their logarithms), or of a regression's
// numbers. Labels go by name. Error where the models do not answer the same question.
engine::Predictions average(std::span<const engine::Predictions> models, std::span<const std::string> names);

}  // namespace shoal::cli
