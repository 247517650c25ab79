#include "engine/config/key_docs.h"

#include "data/text_error.h"
#include "engine/config/foreign_keys.h"
#include "engine/config/keys.h"

namespace shoal::engine {
namespace {

using namespace config;

template <typename Spec>
std::string help(const Key<Spec>& key, std::string_view sections) {
  std::string out = fmt::format("{}\n  {}\n\n", key.name, key.meaning);
  out += fmt::format("  takes         {}\n", key.allowed_text());
  out += fmt::format("  default       {}\n", key.default_text());
  out += fmt::format("  transformers  {}\n", key.hf == "-" ? "has no such key" : key.hf);
  out += fmt::format("  stands in     {}\n", sections);
  return out;
}

// A cell of a Markdown table.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

template <typename Keys>
std::string rows(const Keys& keys) {
  std::string out = "| key | takes | default | transformers | meaning |\n|---|---|---|---|---|\n";
  for (const auto& key : keys) {
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.name, cell(key.allowed_text()),
                       cell(key.default_text()), cell(key.hf), cell(key.meaning));
  }
  return out;
}

std::string answers(const std::vector<ForeignKey>& keys) {
  std::string out = "| key | answer |\n|---|---|\n";
  for (const ForeignKey& key : keys)
    out += fmt::format("| `{}` | {} |\n", key.name, cell(std::string(key.answer)));
  return out;
}

constexpr std::string_view kIntroduction = R"(# The fleet file

This page is made from the key table in the source (`shoal help --markdown`); do not edit it.

A fleet file is TOML. `[fleet]` holds what concerns the whole run, `[defaults]` what all jobs share, and
each `[[job]]` one job, or many:

```toml
[fleet]
slots = 4

[defaults]
model = "bert-base-uncased"
train_file = "data/{name}/train.tsv"
validation_file = "data/{name}/dev.tsv"

[[job]]
name = "mood"
text = "sentence"

[[job]]                                  # a grid: 3 x 2 jobs, the last key varies fastest
name = "pairs/lr{learning_rate}-s{seed}"
train_file = "data/pairs/train.csv"
validation_file = "data/pairs/dev.csv"
text_pair = "second"
sweep.learning_rate = [1e-5, 3e-5, 5e-5]
sweep.seed = [1, 2]
```

Short jobs can be written in a row, above the first section: `job = [ { name = "a" }, { name = "b" } ]`.

**What holds when a key stands in several places**: `[defaults]`, then the `[[job]]`, then its sweep, then
`--set`; the last one wins. `--set defaults.KEY=VALUE` sets the key of every job, `--set job.NAME.KEY=VALUE`
of one (it keeps its name), `--set fleet.KEY=VALUE` of the fleet. `--only GLOB` trains the jobs of that name.

**Paths** are relative to the folder of the fleet file.

**Templates.** In every text, `{key}` stands for another key of the job, as it is written in the file
(`1e-5` stays `1e-5`) or by default; `{trial}` for the job's number among those of its `[[job]]`, from 0;
`{trial:03}` for an integer with zeros to three digits; `{{` and `}}` for the braces.

**Names** become folders under `output_dir`: no control character, no part that is empty or starts with a dot,
none twice, none inside another job's folder.

**Mistakes** are collected and shown together, at most 20, as
`file:line:column: error: what; allowed: ...; did you mean ...`. Nothing is trained then. With
`on_error = "skip"` files and models that are missing fail their jobs alone; a mistake in the fleet file itself
still stops the fleet.

)";

}  // namespace

std::optional<std::string> key_help(std::string_view name) {
  if (const auto* key = find_job_key(name)) return help(*key, "[defaults], [[job]], sweep");
  if (const auto* key = find_fleet_key(name)) return help(*key, "[fleet]");
  if (name == "sweep") {
    return "sweep.KEY = [ values ]\n  Makes a job of each value; of several sweeps, of each combination, the "
           "last "
           "varying fastest.\n";
  }
  if (const std::string_view answer = foreign_key_answer(name); !answer.empty()) {
    return fmt::format("{} is no key here: {}\n", name, answer);
  }
  return std::nullopt;
}

std::string key_list() {
  std::string out = "[fleet]\n";
  for (const auto& key : fleet_keys()) out += fmt::format("  {:<29}{}\n", key.name, key.meaning);
  out += "\n[defaults] and [[job]]\n";
  for (const auto& key : job_keys()) out += fmt::format("  {:<29}{}\n", key.name, key.meaning);
  return out;
}

std::string key_suggestion(std::string_view name) {
  std::vector<std::string> names = job_key_names();
  for (std::string& fleet_key : fleet_key_names()) names.push_back(std::move(fleet_key));
  return data::allowed_and_nearest(name, names);
}

std::string fleet_file_markdown() {
  std::string out(kIntroduction);
  out += "## [fleet]\n\n" + rows(fleet_keys());
  out +=
      "\n## [defaults] and [[job]]\n\nNames and meanings are those of transformers' `TrainingArguments` "
      "where one "
      "exists; the column *transformers* says \"same\", or what differs, or \"-\" where it has no such "
      "key.\n\n" +
      rows(job_keys());
  out += "\n## Keys of other tools\n\nThese are refused with an answer.\n\n" + answers(foreign_keys());
  out += "\n## Not yet\n\n" + answers(later_keys());
  return out;
}

}  // namespace shoal::engine
