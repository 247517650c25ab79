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

// What makes many jobs of one [[job]], or gives several the same keys: not keys of a job themselves.
struct Form {
  std::string_view name;
  std::string_view form;
  std::string_view meaning;
};

constexpr Form kForms[] = {
    {"use", "use = [\"NAME\"]",
     "In a [[job]] or [defaults]: takes the keys of [preset.NAME], of several the last one wins."},
    {"preset", "[preset.NAME]", "Keys that a job takes with use = [\"NAME\"]."},
    {"each", "each.NAME = [ values ], \"customers/*\" or { csv = \"FILE\" }",
     "Makes a job of each value, of each path that matches (NAME is what * stood for) or of each row (its "
     "cells "
     "set the names of their columns). NAME is a key, or a variable for templates."},
    {"sweep", "sweep.KEY = [ values ]",
     "Makes a job of each value; with search also { uniform = [a, b] }, loguniform, quniform = [a, b, q], "
     "randint or choice = [ values ]."},
    {"search", "search = { n_trials = N, seed = 0 }",
     "Draws N points of the sweep instead of taking its whole grid; lists are choices."},
};

constexpr std::string_view kIntroduction = R"(# The fleet file

This page is made from the key table in the source (`shoal help --markdown`); do not edit it.

A fleet file is TOML. `[fleet]` holds what concerns the whole run, `[defaults]` what all jobs share,
`[preset.NAME]` what some share, and each `[[job]]` one job, or many:

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

[preset.long]
max_seq_length = 512
per_device_train_batch_size = 4

[[job]]                                  # a grid: 3 x 2 jobs, the last key varies fastest
name = "pairs/lr{learning_rate}-s{seed}"
use = ["long"]
text_pair = "second"
sweep.learning_rate = [1e-5, 3e-5, 5e-5]
sweep.seed = [1, 2]
```

Short jobs can be written in a row, above the first section: `job = [ { name = "a" }, { name = "b" } ]`.

**What holds when a key stands in several places**: `[defaults]`, then the presets from left to right, then the
`[[job]]`, then its each, sweep and fold, then `--set`; the last one wins. A preset uses no preset. A `use` in
`[defaults]` is for the jobs without one of their own. `--set defaults.KEY=VALUE` sets the key of every job,
`--set job.NAME.KEY=VALUE` of one (it keeps its name), `--set fleet.KEY=VALUE` of the fleet. `--only GLOB` trains the
jobs of that name.

**One `[[job]]` makes many**: each x sweep x folds, in the order of the file, the last varying fastest;
`shoal check --jobs` lists them.

```toml
[[job]]                                  # a job for each folder
each.customer = "customers/*"            # {customer} is what * stood for; a path that starts with a dot is passed over
name = "{customer}"
train_file = "customers/{customer}/tickets.csv"
validation_split_percentage = 10

[[job]]                                  # a job for each row; the columns are keys or variables
each.shop = { csv = "shops.csv" }        # an empty cell leaves its key as it is elsewhere
name = "shop-{id}"

[[job]]                                  # 64 random trials instead of a grid
name = "t{trial:03}"
sweep.learning_rate = { loguniform = [1e-6, 1e-4] }
sweep.warmup_steps = { uniform = [0.0, 0.2] }
sweep.per_device_train_batch_size = [16, 32, 64]
search = { n_trials = 64, seed = 0 }

[[job]]                                  # 2 x 5 folds; the rows of one user stay together
name = "fold{fold}"
train_file = "all.csv"
folds = { n = 5, group = "user_id", repeats = 2, seed = 0 }
```

- `each.NAME`: where `NAME` is no key it is a variable, which some text must take up. A value from a file's name
  or a CSV is data: braces in it are braces, and a key takes it as a number or as a text, as it needs.
- `sweep.KEY` and `search`: `uniform` and `loguniform` draw numbers a <= x < b with six digits, `quniform` multiples
  of q from a to b (integers where a, b and q are), `randint` integers from a to b - 1, a list or `choice` one of
  its values. A draw depends on the search's seed, the trial and the key alone: more trials, or another key, leave
  the others as they are. With `each` and `folds`, trial t is the same point for every value and fold.
- `folds`: fold f is part f mod n of repeat f div n. A run's job.toml holds it as `folds = { n, seed, only = f }`,
  which is that one fold again.

**Paths** are relative to the folder of the fleet file.

**Templates.** In every text, `{key}` stands for another key of the job, as it is written in the file
(`1e-5` stays `1e-5`) or by default; `{variable}` for a variable of `each`; `{fold}` and `{trial}` for the number of
the job's fold and of its point of the sweep, from 0; `{trial:03}` for an integer with zeros to three digits; `{{` and
`}}` for the braces.

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
  for (const Form& form : kForms) {
    if (form.name == name) return fmt::format("{}\n  {}\n", form.form, form.meaning);
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
  out += "\n[[job]] alone, or shared by several\n";
  for (const Form& form : kForms) out += fmt::format("  {:<29}{}\n", form.name, form.meaning);
  return out;
}

std::string key_suggestion(std::string_view name) {
  std::vector<std::string> names = job_key_names();
  for (std::string& fleet_key : fleet_key_names()) names.push_back(std::move(fleet_key));
  for (const Form& form : kForms) names.emplace_back(form.name);
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
