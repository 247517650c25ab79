// The one table of the fleet file's keys: name, what it takes, default, Hugging Face's name, meaning,
// and the member it sets. The validator, `shoal help KEY`, docs/fleet-file.md and the job.toml of a run
// are made from it, so a new key is one row (and, where it is new, one member of JobSpec).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/binding.h"
#include "engine/job_spec.h"

namespace shoal::engine::config {

template <typename Spec>
struct Key {
  std::string name;
  std::string unset;    // what holds while the file does not name it, where the member has no value then
  std::string hf;       // "same", or how transformers differs, or "-"
  std::string meaning;  // one line
  Binding<Spec> binding;

  // "5e-5", or the words of `unset`.
  std::string default_text() const {
    const std::string value = binding.get(Spec{});
    return value.empty() ? unset : value;
  }
  std::string allowed_text() const {
    return binding.type + (binding.range.empty() ? "" : " " + binding.range);
  }
};

const std::vector<Key<JobSpec>>& job_keys();      // [defaults], [[job]]
const std::vector<Key<FleetSpec>>& fleet_keys();  // [fleet]

// nullptr: no such key.
const Key<JobSpec>* find_job_key(std::string_view name);
const Key<FleetSpec>* find_fleet_key(std::string_view name);

std::vector<std::string> job_key_names();
std::vector<std::string> fleet_key_names();

// Sets the key's member; Error ("learning_rate is -1; allowed: a number > 0") or Missing if it cannot.
template <typename Spec>
void set_key(const Key<Spec>& key, Spec& spec, const Value& value, const Context& context);

extern template void set_key(const Key<JobSpec>&, JobSpec&, const Value&, const Context&);
extern template void set_key(const Key<FleetSpec>&, FleetSpec&, const Value&, const Context&);

}  // namespace shoal::engine::config
