// The forms of `model`, with a Hugging Face cache of our own.
#include <cstdlib>

#include "tests/config/support.h"

namespace shoal::engine {
namespace {

class ModelTest : public FleetFileTest {
 protected:
  ModelTest() {
    ::unsetenv("HF_HUB_CACHE");
    ::setenv("HF_HOME", (folder_ / "hf").c_str(), 1);
  }
  ~ModelTest() override { ::unsetenv("HF_HOME"); }

  std::string file(const std::string& model) const {
    return "[[job]]\nname = 'a'\ntrain_file = 'train.tsv'\nmodel = " + model + "\n";
  }
  std::filesystem::path folder_of(const std::string& model) const {
    return parse(file(model)).jobs.at(0).model.folder;
  }
  std::string about(const std::string& model) const { return refusal(file(model)); }

  void cache(const std::string& repository, const std::string& commit, bool main) const {
    touch("hf/hub/" + repository + "/snapshots/" + commit + "/config.json");
    std::filesystem::create_directories(folder_ / "hf/hub" / repository / "refs");
    if (main) std::ofstream(folder_ / "hf/hub" / repository / "refs/main") << commit;
  }
};

TEST_F(ModelTest, AFolder) {
  touch("base/config.json");
  EXPECT_EQ(folder_of("'base'"), folder_ / "base");
  EXPECT_EQ(folder_of("'./base'"), folder_ / "base");
  EXPECT_EQ(folder_of("'" + (folder_ / "base").string() + "'"), folder_ / "base");
}

TEST_F(ModelTest, AHubIdIsFoundInTheCache) {
  cache("models--bert-base-uncased", "111", false);
  cache("models--org--tiny", "111", false);
  cache("models--org--tiny", "222", true);
  cache("models--org--tiny", "333", false);
  EXPECT_EQ(folder_of("'bert-base-uncased'"), folder_ / "hf/hub/models--bert-base-uncased/snapshots/111");
  EXPECT_EQ(folder_of("'org/tiny'"), folder_ / "hf/hub/models--org--tiny/snapshots/222");
}

TEST_F(ModelTest, AFolderComesBeforeTheCache) {
  cache("models--base", "1", true);
  touch("base/config.json");
  EXPECT_EQ(folder_of("'base'"), folder_ / "base");
}

TEST_F(ModelTest, WhatIsNotThereComesWithTheCommand) {
  EXPECT_EQ(about("'org/none'"),
            "f.toml:4:9: error: model: no folder 'org/none', and 'org/none' is not in the Hugging Face cache "
            "'hf/hub'; "
            "download it with: hf download org/none");
  EXPECT_EQ(about("'./none'"), "f.toml:4:9: error: model: no folder 'none'");
  EXPECT_EQ(about("'a/b/c'"), "f.toml:4:9: error: model: no folder 'a/b/c'");
}

TEST_F(ModelTest, NoModelInIt) {
  std::filesystem::create_directories(folder_ / "empty");
  EXPECT_EQ(
      about("'empty'"),
      "f.toml:4:9: error: model: the folder 'empty' has no config.json, so it is not a Hugging Face model");
  EXPECT_EQ(about("'vocab.txt'"),
            "f.toml:4:9: error: model: 'vocab.txt' is a file; the folder that holds config.json is wanted");
}

TEST_F(ModelTest, APreset) {
  const JobSpec job = parse(file("{ preset = 'bert-mini', vocab = 'vocab.txt' }")).jobs.at(0);
  EXPECT_EQ(job.model.preset, "bert-mini");
  EXPECT_EQ(job.model.vocab, folder_ / "vocab.txt");
  EXPECT_TRUE(job.model.folder.empty());
}

TEST_F(ModelTest, BadPresets) {
  const std::string unknown = about("{ preset = 'bert-tony', vocab = 'vocab.txt' }");
  EXPECT_EQ(unknown.find("f.toml:4:9: error: model: no model preset"), 0u) << unknown;
  EXPECT_NE(unknown.find("bert-tiny"), std::string::npos) << unknown;
  EXPECT_EQ(about("{ preset = 'bert-tiny', vocab = 'no.txt' }"),
            "f.toml:4:9: error: model: no vocabulary 'no.txt'");
  EXPECT_EQ(about("{ preset = 'bert-tiny' }"),
            "f.toml:4:9: error: model: random weights take both of { preset = \"bert-tiny\", vocab = "
            "\"vocab.txt\" }");
  EXPECT_EQ(about("{ preset = 'bert-tiny', vocabulary = 'x' }"),
            "f.toml:4:9: error: model: unknown key 'vocabulary' in the table; allowed: preset, vocab");
  EXPECT_EQ(about("{ preset = 3, vocab = 'x' }"), "f.toml:4:9: error: model: preset is 3; allowed: a text");
  EXPECT_EQ(about("3"), "f.toml:4:9: error: model is 3; allowed: a folder, a hub id, or { preset, vocab }");
}

}  // namespace
}  // namespace shoal::engine
