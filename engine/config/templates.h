// Templates in the texts of a job: "lr{learning_rate}-s{seed}", "glue/{name}/train.tsv", "t{trial:03}".
//
//   {key}       any key of the job, as written in the file; else its default, where it has one
//   {variable}  a name that `each` sets and that is no key
//   {fold}      number of the job's fold, from 0
//   {trial}     number of the job's point of the sweep, from 0
//   {trial:03}  an integer, with zeros to three digits
//   {{ and }}   the braces themselves
#pragma once

#include <string>
#include <vector>

#include "engine/config/expand.h"

namespace shoal::engine::config {

// Whether the text holds {name}, with or without a format.
bool holds_template(const std::string& text, const std::string& name);

class Templates {
 public:
  explicit Templates(const RawJob& job) : job_(job) {}

  // The value with the templates of its texts (also inside a table) filled in. Error for an unknown
  // name, a brace left open, or names that need each other.
  Value resolve(const std::string& key, const Value& value) const;

 private:
  // `open`: keys whose texts are being filled in, to see a circle.
  std::string fill(const std::string& text, std::vector<std::string>& open) const;
  std::string lookup(const std::string& name, std::vector<std::string>& open, bool& is_integer) const;

  const RawJob& job_;
};

}  // namespace shoal::engine::config
