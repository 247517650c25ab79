#include "engine/config/job_toml.h"

#include "engine/config/keys.h"

namespace shoal::engine {
namespace {

// A brace in a resolved text is a brace, not the start of a template.
std::string without_templates(std::string toml, bool is_table) {
  std::string out;
  for (std::size_t i = 0; i < toml.size(); ++i) {
    const bool of_table = is_table && (i == 0 || i + 1 == toml.size());
    out += toml[i];
    if ((toml[i] == '{' || toml[i] == '}') && !of_table) out += toml[i];
  }
  return out;
}

}  // namespace

std::string job_toml(const JobSpec& job, std::span<const std::pair<std::string, std::string>> facts) {
  std::string out;
  for (const auto& [name, value] : facts)
    out += config::one_line(fmt::format("# {}: {}", name, value)) + "\n";
  out += "[[job]]\n";
  for (const config::Key<JobSpec>& key : config::job_keys()) {
    const std::string value = key.binding.get(job);
    if (!value.empty())
      out += fmt::format("{} = {}\n", key.name, without_templates(value, value.front() == '{'));
  }
  return out;
}

}  // namespace shoal::engine
