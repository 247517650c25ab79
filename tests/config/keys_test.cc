// The key table itself, and what is made from it.
#include "engine/config/keys.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "engine/config/foreign_keys.h"
#include "engine/config/key_docs.h"
#include "tests/config/support.h"

namespace shoal::engine {
namespace {

template <typename Keys>
void expect_rows_whole(const Keys& keys, std::set<std::string>& seen) {
  for (const auto& key : keys) {
    EXPECT_TRUE(seen.insert(key.name).second) << key.name << " stands twice";
    EXPECT_FALSE(key.meaning.empty()) << key.name;
    EXPECT_FALSE(key.hf.empty()) << key.name;
    EXPECT_FALSE(key.default_text().empty()) << key.name;
    EXPECT_FALSE(key.allowed_text().empty()) << key.name;
  }
}

TEST(Keys, EveryRowIsWholeAndNamedOnce) {
  std::set<std::string> seen;
  expect_rows_whole(config::job_keys(), seen);
  expect_rows_whole(config::fleet_keys(), seen);
  for (const auto* list : {&config::foreign_keys(), &config::later_keys()}) {
    for (const auto& key : *list)
      EXPECT_TRUE(seen.insert(std::string(key.name)).second) << key.name << " stands twice";
  }
}

TEST(Keys, ADefaultIsAValueThatItsOwnKeyTakes) {
  // What job.toml writes must be readable again: get -> TOML -> set -> get.
  for (const auto& key : config::job_keys()) {
    const std::string text = key.binding.get(JobSpec{});
    if (text.empty()) continue;
    JobSpec job;
    config::set_key(key, job, config::parse_typed_value(text, {}), {});
    EXPECT_EQ(key.binding.get(job), text) << key.name;
  }
}

// What a key is set to by this text; the refusal where it is not.
std::string after(const config::Key<JobSpec>& key, const std::string& written) {
  try {
    JobSpec job;
    config::set_key(key, job, config::text_value(written, {}), {});
    return key.binding.get(job);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Keys, EveryChoiceIsTakenAndEveryLaterOneIsAnswered) {
  int later = 0;
  for (const auto& key : config::job_keys()) {
    for (const std::string& choice : key.binding.choices) {
      // An alias reads back as what it stands for, which must be a choice too.
      const std::string value = after(key, choice);
      ASSERT_TRUE(value.size() > 2 && value.front() == '"') << key.name << ": " << value;
      EXPECT_TRUE(std::ranges::count(key.binding.choices, value.substr(1, value.size() - 2)))
          << key.name << ": " << value;
    }
    for (const std::string& name : key.binding.later) {
      ++later;
      const std::string wanted = key.name + " = '" + name + "': not yet in this version of shoal";
      EXPECT_TRUE(after(key, name).starts_with(wanted)) << after(key, name);
    }
  }
  EXPECT_GE(later, 5);
}

TEST(Keys, WhatMakesManyJobsIsExplainedToo) {
  for (const char* name : {"each", "sweep", "search", "use", "preset", "folds"}) {
    ASSERT_TRUE(key_help(name)) << name;
    EXPECT_NE(key_list().find(std::string("\n  ") + name + " "), std::string::npos) << name;
  }
  EXPECT_NE(key_suggestion("serach").find("did you mean 'search'?"), std::string::npos);
}

TEST(Keys, NumbersAreShortAndReadBack) {
  EXPECT_EQ(config::number_text(5e-5), "5e-5");
  EXPECT_EQ(config::number_text(1e-10), "1e-10");
  EXPECT_EQ(config::number_text(3), "3.0");
  EXPECT_EQ(config::number_text(0.1), "0.1");
  EXPECT_EQ(config::number_text(1e30), "1e+30");
}

TEST(Keys, HelpSaysAllThatTheTableKnows) {
  const std::string help = key_help("warmup_steps").value();
  for (const char* part : {"warmup_steps", "share of all updates", "default       0", "transformers  same"}) {
    EXPECT_NE(help.find(part), std::string::npos) << help;
  }
  EXPECT_NE(key_help("slots").value().find("[fleet]"), std::string::npos);
  EXPECT_EQ(key_help("lr"), "lr is no key here: use learning_rate\n");
  EXPECT_FALSE(key_help("learning_rat"));
  EXPECT_NE(key_suggestion("learning_rat").find("did you mean 'learning_rate'?"), std::string::npos);
}

TEST(Keys, TheCommittedPageIsTheTables) {
  std::ifstream in(SHOAL_FLEET_FILE_MD);
  ASSERT_TRUE(in.good()) << SHOAL_FLEET_FILE_MD;
  std::ostringstream page;
  page << in.rdbuf();
  EXPECT_TRUE(page.str() == fleet_file_markdown())
      << "write it anew: shoal help --markdown > docs/fleet-file.md";
}

}  // namespace
}  // namespace shoal::engine
