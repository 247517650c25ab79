#include "cli/shard.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "engine/config/typed_keys.h"
#include "kernels/base/error.h"

namespace shoal::cli {
namespace {

using engine::config::UsageError;

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return value;
}

std::optional<std::int64_t> environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? number(value) : std::nullopt;
}

std::int64_t index_from_environment(const std::string& text) {
  if (const auto task = environment("SLURM_ARRAY_TASK_ID"))
    return *task - environment("SLURM_ARRAY_TASK_MIN").value_or(0);
  if (const auto index = environment("JOB_COMPLETION_INDEX")) return *index;
  throw UsageError(fmt::format(
      "--shard {}: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set; allowed: K/N", text));
}

}  // namespace

void take_shard(const std::string& text, engine::FleetSpec& fleet) {
  const std::size_t slash = text.find('/');
  const auto of =
      slash == std::string::npos ? std::nullopt : number(std::string_view(text).substr(slash + 1));
  if (!of || *of == 0)
    throw UsageError(fmt::format("--shard {}; allowed: K/N with K from 0 to N - 1, or /N", text));
  const auto index =
      slash == 0 ? index_from_environment(text) : number(std::string_view(text).substr(0, slash));
  if (!index || *index >= *of)
    throw UsageError(fmt::format("--shard {}; allowed: K/N with K from 0 to N - 1, or /N", text));
  std::vector<engine::JobSpec> mine;
  for (std::size_t i = 0; i < fleet.jobs.size(); ++i)
    if (static_cast<std::int64_t>(i) % *of == *index) mine.push_back(std::move(fleet.jobs[i]));
  require(!mine.empty(), "--shard {}: there is no job for this shard", text);
  fleet.jobs = std::move(mine);
  fleet.output_dir /= fmt::format("shard-{}-of-{}", *index, *of);
}

}  // namespace shoal::cli
