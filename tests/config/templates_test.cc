// {key}, {trial}, {trial:03}, {{ in the texts of a job.
#include "tests/config/support.h"

namespace shoal::engine {
namespace {

class TemplateTest : public FleetFileTest {
 protected:
  // The column `text` as a job with this line has it.
  std::string text(const std::string& toml, const std::string& more = "") const {
    return parse(defaults_ + "[[job]]\nname = \"a\"\ntext = " + toml + "\n" + more).jobs.at(0).text.name;
  }
  std::string about(const std::string& toml) const {
    return refusal(defaults_ + "[[job]]\nname = \"a\"\ntext = " + toml + "\n");
  }
};

TEST_F(TemplateTest, KeysAsWritten) {
  EXPECT_EQ(text("'{name}'"), "a");
  EXPECT_EQ(text("'{learning_rate}'", "learning_rate = 1.0E-5\n"), "1.0E-5");
  EXPECT_EQ(text("'{max_train_samples}'", "max_train_samples = 10_000\n"), "10_000");
  EXPECT_EQ(text("'{header}'", "header = true # so\n"), "true");
  EXPECT_EQ(text("'x{seed}y{seed}'", "seed = 3\n"), "x3y3");
}

TEST_F(TemplateTest, DefaultsStandInForKeysThatAreNotSet) {
  EXPECT_EQ(text("'{learning_rate} {seed} {optim}'"), "5e-5 42 adamw_torch");
}

TEST_F(TemplateTest, TextsMayBuildOnTexts) {
  EXPECT_EQ(text("'{label}'", "label = '{seed}-{name}'\n"), "42-a");
}

TEST_F(TemplateTest, Braces) {
  EXPECT_EQ(text("'{{seed}}'"), "{seed}");
  EXPECT_EQ(text("'a}b{{'"), "a}b{");
}

TEST_F(TemplateTest, TrialCountsWithinItsJob) {
  const FleetSpec fleet = parse(defaults_ + R"([[job]]
name = "t{trial:03}"
sweep.seed = [5, 6]
[[job]]
name = "u{trial}-{seed:04}"
sweep.seed = [7]
)");
  EXPECT_EQ(names(fleet), (std::vector<std::string>{"t000", "t001", "u0-0007"}));
}

TEST_F(TemplateTest, InPathsAndTables) {
  touch("de/train.tsv");
  touch("de/vocab.txt");
  const FleetSpec fleet = parse(R"([[job]]
name = "de"
train_file = "{name}/train.tsv"
model = { preset = "bert-tiny", vocab = "{name}/vocab.txt" }
)");
  EXPECT_EQ(fleet.jobs[0].train_file, folder_ / "de/train.tsv");
  EXPECT_EQ(fleet.jobs[0].model.vocab, folder_ / "de/vocab.txt");
}

TEST_F(TemplateTest, Mistakes) {
  const std::pair<const char*, const char*> cases[] = {
      {"'{sed}'",
       "unknown name '{sed}' in a template; allowed: the keys of a job, trial, fold; did you mean 'seed'?"},
      {"'{fold}'", "{fold} in a template, but the job has no folds"},
      {"'{seed'", "'{' without '}' in '{seed'; a brace itself is written '{{'"},
      {"'{text}'", "{text} needs itself in a template"},
      {"'{model}'", "{model} in a template, but model is a table"},
      {"'{validation_file}'", "{validation_file} in a template, but the job has no validation_file"},
      {"'{trial:x}'", "'{trial:x}' in a template; allowed: a number of digits such as {trial:03}"},
      {"'{learning_rate:03}'", "'{learning_rate:03}' in a template: learning_rate is no integer"},
  };
  for (const auto& [toml, what] : cases) EXPECT_EQ(about(toml), std::string("f.toml:6:8: error: ") + what);
}

TEST_F(TemplateTest, ACircleOverTwoKeys) {
  EXPECT_EQ(refusal(defaults_ + "[[job]]\nname = 'a'\ntext = '{label}'\nlabel = '{text}'\n"),
            "f.toml:6:8: error: {text} needs itself in a template\n"
            "f.toml:7:9: error: {label} needs itself in a template");
}

}  // namespace
}  // namespace shoal::engine
