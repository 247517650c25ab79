// Whole folders: complete before visible, and a failure leaves what was there.
#include "models/hf_folder.h"

#include <cmath>
#include <stdexcept>

#include "tests/models/support.h"

namespace shoal::models {
namespace {

using Names = std::vector<std::string>;

class HfFolders : public testing::Test {
 protected:
  HfFolders() : row_(static_cast<std::size_t>(layout_.row_elements())) {
    initialise_row(layout_, {2, 10}, config_, 5, row_);
  }
  HfExport model() const {
    return {.config = config_,
            .layout = layout_,
            .own = {2, 10},
            .row = row_,
            .architecture = "BertForSequenceClassification",
            .problem_type = "single_label_classification",
            .labels = {"no", "yes"}};
  }
  static void write_vocabulary(const std::filesystem::path& folder) {
    write_file(folder / "vocab.txt", "[PAD]\n");
  }
  Names names(const std::filesystem::path& folder) const {
    Names all;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }

  const BertConfig config_ = small_config();
  const Layout layout_ = layout_of(config_);
  std::vector<float> row_;
  TempFolder folder_;
  const std::filesystem::path target_ = folder_ / "job";
};

TEST_F(HfFolders, ANewFolderAppearsComplete) {
  export_folder(target_, model(), [&](const std::filesystem::path& folder) {
    EXPECT_FALSE(std::filesystem::exists(target_));
    write_vocabulary(folder);
  });
  EXPECT_EQ(folder_.names(), Names{"job"});
  EXPECT_EQ(names(target_), (Names{"config.json", "model.safetensors", "vocab.txt"}));
  const HfFolder folder = read_hf_folder(target_);
  EXPECT_EQ(folder.config.id2label, (Names{"no", "yes"}));
  std::vector<float> back(row_.size());
  const ImportReport report = import_weights(folder.folder, layout_, {2, 10}, folder.config, 1, back);
  EXPECT_EQ(back, row_);
  EXPECT_TRUE(report.notes.empty());
}

TEST_F(HfFolders, AnExistingFolderKeepsItsOtherFiles) {
  std::filesystem::create_directories(target_);
  write_file(target_ / "metrics.jsonl", "{}\n");
  write_file(target_ / "config.json", "old");
  export_folder(target_ / "", model(), write_vocabulary);
  EXPECT_EQ(names(target_), (Names{"config.json", "metrics.jsonl", "model.safetensors", "vocab.txt"}));
  EXPECT_EQ(read_file(target_ / "metrics.jsonl"), "{}\n");
  EXPECT_EQ(read_hf_folder(target_).config.hidden_size, 8);
}

TEST_F(HfFolders, FoldersAreMadeOnTheWay) {
  export_folder(folder_.path() / "a" / "b", model(), {});
  EXPECT_EQ(names(folder_.path() / "a" / "b"), (Names{"config.json", "model.safetensors"}));
}

TEST_F(HfFolders, FailureLeavesNothingNew) {
  const auto fail_late = [](const std::filesystem::path& folder) {
    write_vocabulary(folder);
    throw std::runtime_error("stop");
  };
  EXPECT_THROW(export_folder(target_, model(), fail_late), std::runtime_error);
  EXPECT_EQ(folder_.names(), Names{});
  export_folder(target_, model(), write_vocabulary);
  const std::string config = read_file(target_ / "config.json"),
                    weights = read_file(target_ / "model.safetensors");
  row_[0] = NAN;
  HfExport broken = model();
  broken.labels = {"other", "names"};
  EXPECT_THROW(export_folder(target_, broken, write_vocabulary), Error);
  EXPECT_EQ(names(target_), (Names{"config.json", "model.safetensors", "vocab.txt"}));
  EXPECT_EQ(read_file(target_ / "config.json"), config);
  EXPECT_EQ(read_file(target_ / "model.safetensors"), weights);
}

TEST_F(HfFolders, WhatIsNoModelIsRefused) {
  EXPECT_EQ(error_of([&] { read_hf_folder(target_); }), target_.string() + ": error: no such folder");
  EXPECT_EQ(error_of([&] { read_hf_folder(folder_.path()); }),
            folder_.path().string() + ": error: no config.json in this folder");
  write_file(
      folder_ / "bert_config.json",
      R"({"vocab_size":10,"hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":16,
                 "max_position_embeddings":6,"type_vocab_size":2})");
  EXPECT_EQ(read_hf_folder(folder_.path()).config.vocab_size, 10);
}

}  // namespace
}  // namespace shoal::models
