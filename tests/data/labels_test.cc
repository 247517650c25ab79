// Label maps: cases 26 and 28 of the awkward inputs.
#include "data/labels.h"

#include "data/build_dataset.h"
#include "tests/data/support.h"

namespace shoal::data {
namespace {

LabelSet set_of(const std::vector<std::string>& names) {
  LabelSet set;
  set.file = "train.tsv";
  set.column = "column 'label'";
  for (const std::string& name : names) {
    set.entries.push_back({name, 1, static_cast<std::int64_t>(set.entries.size()) + 2});
    ++set.rows;
  }
  return set;
}

using Names = std::vector<std::string>;

TEST(LabelMap, SortedByCodePoint) {
  EXPECT_EQ(make_label_map(set_of({"b", "é", "a", "B"})).names(), (Names{"B", "a", "b", "é"}));
}

TEST(LabelMap, IntegersByValue) {
  EXPECT_EQ(make_label_map(set_of({"10", "9", "-1", "0"})).names(), (Names{"-1", "0", "9", "10"}));
  EXPECT_EQ(make_label_map(set_of({"10", "9", "x"})).names(), (Names{"10", "9", "x"}))
      << "not all are integers";
}

TEST(LabelMap, MatchesExactlyUnlessFromACheckpoint) {
  const LabelMap map = make_label_map(set_of({"pos", "neg"}));
  EXPECT_EQ(map.find("pos"), 1);
  EXPECT_EQ(map.find("Pos"), std::nullopt);
  EXPECT_EQ(map.find(""), std::nullopt);
}

TEST(LabelMap, Case26CheckpointNamesHoldWithoutRegardToCase) {
  const Names names = {"CONTRADICTION", "NEUTRAL", "ENTAILMENT"};
  for (const Names& order :
       {Names{"entailment", "neutral", "contradiction"}, Names{"neutral", "entailment"}}) {
    const LabelMap map = make_label_map(set_of(order), names);
    EXPECT_EQ(map.names(), names) << "the checkpoint's spelling and number of classes";
    EXPECT_EQ(map.find("entailment"), 2);
    EXPECT_EQ(map.find("Neutral"), 1);
    EXPECT_EQ(map.find("contradiction"), 0);
  }
}

TEST(LabelMap, CheckpointThatDoesNotCoverTheDataIsPassedOver) {
  EXPECT_EQ(make_label_map(set_of({"spam", "ham"}), Names{"NEUTRAL", "SPAM"}).names(),
            (Names{"ham", "spam"}));
}

TEST(LabelMap, CheckpointNamesToldApartByCaseAlone) {
  const LabelMap map = LabelMap::from_checkpoint({"a", "A", "É"});
  EXPECT_EQ(map.find("a"), 0);
  EXPECT_EQ(map.find("A"), 1);
  EXPECT_EQ(map.find("é"), 2);
}

TEST(LabelMap, DefaultNamesTakeNumbers) {
  const LabelMap map = make_label_map(set_of({"2", "0"}), Names{"LABEL_0", "LABEL_1", "LABEL_2"});
  EXPECT_EQ(map.size(), 3);
  EXPECT_EQ(map.find("2"), 2);
  EXPECT_EQ(map.find("label_1"), 1);
  EXPECT_EQ(LabelMap::from_checkpoint({"LABEL_0", "other"}).find("0"), std::nullopt);
}

TEST(LabelMap, Refuses) {
  const TempFolder folder;
  LabelSet spam = set_of({"spam"});
  spam.rows = 4;
  EXPECT_EQ(
      error_of(folder, [&] { make_label_map(spam); }),
      "train.tsv: error: column 'label' has one class only ('spam' in all 4 rows); wanted: two or more");
  EXPECT_EQ(error_of(folder, [&] { LabelMap({"a", "b", "a"}); }), "label 'a' stands twice among the labels");
}

TEST(ReadLabels, CountsInOrderOfAppearance) {
  const TempFolder folder;
  const LabelSet set = read_labels(folder.write("f.tsv", "text\tlabel\nx\tb\ny\ta\n\nz\tb\n"), {});
  ASSERT_EQ(set.entries.size(), 2u);
  EXPECT_EQ(set.entries[0].name, "b");
  EXPECT_EQ(set.entries[0].rows, 2);
  EXPECT_EQ(set.entries[0].first_line, 2);
  EXPECT_EQ(set.entries[1].name, "a");
  EXPECT_EQ(set.entries[1].first_line, 3);
  EXPECT_EQ(set.rows, 3);
}

TEST(ReadLabels, Case23EqualWhateverItsJsonType) {
  const TempFolder folder;
  const auto file = folder.write("f.jsonl",
                                 "{\"text\":\"a\",\"label\":1}\n{\"text\":\"b\",\"label\":\"1\"}\n"
                                 "{\"text\":\"c\",\"label\":0}\n");
  EXPECT_EQ(make_label_map(read_labels(file, {})).names(), (Names{"0", "1"}));
}

TEST(ReadLabels, Refuses) {
  const TempFolder folder;
  EXPECT_EQ(error_of(folder, [&] { read_labels(folder.write("f.tsv", "text\tlabel\nx\ta\ny\t\n"), {}); }),
            "f.tsv:3: error: the label is empty");
  EXPECT_EQ(error_of(folder, [&] { read_labels(folder.write("f.tsv", "text\tlabel\n"), {}); }),
            "f.tsv: error: no row of data");
  EXPECT_EQ(error_of(folder, [&] { read_labels(folder.write("f.tsv", ""), {}); }),
            "f.tsv: error: no row of data");
}

}  // namespace
}  // namespace shoal::data
