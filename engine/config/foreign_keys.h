// Keys that people will type and that are not ours: each is answered in words instead of a bare refusal.
#pragma once

#include <string_view>
#include <vector>

namespace shoal::engine::config {

struct ForeignKey {
  std::string_view name;
  std::string_view answer;  // "use learning_rate"
};

// Keys of Hugging Face's tools and of habit.
const std::vector<ForeignKey>& foreign_keys();

// Keys of this format that a later version brings.
const std::vector<ForeignKey>& later_keys();

// What to say to a key, from either list; empty: nothing known of it.
std::string_view foreign_key_answer(std::string_view name);

}  // namespace shoal::engine::config
