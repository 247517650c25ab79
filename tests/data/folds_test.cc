// Laws of folds and splits: every row once, shares even, groups whole, the same from file and seed alone.
#include "data/folds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/data/support.h"

namespace shoal::data {
namespace {

// Rows of these labels; no text.
Dataset labelled(const std::vector<std::int32_t>& labels) {
  Dataset set;
  set.label = labels;
  for (std::size_t r = 0; r < labels.size(); ++r) set.line.push_back(static_cast<std::int64_t>(r) + 2);
  set.file = "all.csv";
  return set;
}

Dataset with_targets(const std::vector<float>& targets) {
  Dataset set = labelled(std::vector<std::int32_t>(targets.size(), 0));
  set.target = targets;
  return set;
}

// 97 rows: 50, 30, 15, 2 of four classes, mixed.
Dataset skewed() {
  std::vector<std::int32_t> labels;
  for (int r = 0; r < 97; ++r) labels.push_back(r % 97 < 50 ? 0 : r < 80 ? 1 : r < 95 ? 2 : 3);
  std::vector<std::int32_t> mixed(labels.size());
  for (std::size_t r = 0; r < labels.size(); ++r) mixed[r] = labels[(r * 31) % labels.size()];
  return labelled(mixed);
}

std::pair<std::int64_t, std::int64_t> least_and_most(const std::vector<std::int32_t>& parts, std::int64_t n,
                                                     const std::vector<std::int32_t>& labels, int of) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(n));
  for (std::size_t r = 0; r < parts.size(); ++r)
    if (of < 0 || labels[r] == of) ++counts[static_cast<std::size_t>(parts[r])];
  return {std::ranges::min(counts), std::ranges::max(counts)};
}

TEST(Folds, PartsAndTheirSharesOfEachClassDifferByOneRowAtMost) {
  const Dataset set = skewed();
  for (const std::int64_t n : {2, 5, 10}) {
    const auto parts = assign_folds(set, {}, n, 0, 0);
    ASSERT_EQ(parts.size(), 97u);
    for (int label = -1; label < 4; ++label) {
      const auto [least, most] = least_and_most(parts, n, set.label, label);
      EXPECT_LE(most - least, 1) << n << " folds, class " << label;
    }
  }
}

TEST(Folds, SeedAndRepeatDecideAndNothingElse) {
  const Dataset set = skewed();
  const auto parts = assign_folds(set, {}, 5, 0, 7);
  EXPECT_EQ(assign_folds(set, {}, 5, 0, 7), parts);
  EXPECT_NE(assign_folds(set, {}, 5, 1, 7), parts) << "repeats reshuffle";
  EXPECT_NE(assign_folds(set, {}, 5, 0, 8), parts);
}

TEST(Folds, OfARegressionSpreadTheTargetsEvenly) {
  std::vector<float> targets;
  for (int r = 0; r < 100; ++r) targets.push_back(static_cast<float>(r * 37 % 100));
  const auto parts = assign_folds(with_targets(targets), {}, 5, 0, 0);
  std::vector<std::set<int>> runs(5);  // of five neighbours by rank, one goes to each part
  for (std::size_t r = 0; r < parts.size(); ++r)
    runs[static_cast<std::size_t>(parts[r])].insert(static_cast<int>(targets[r]) / 5);
  for (const std::set<int>& of_part : runs) EXPECT_EQ(of_part.size(), 20u);
}

TEST(Folds, GroupsStayWholeAndClassesBalanced) {
  const Dataset set = skewed();
  std::vector<std::string> groups;
  for (std::size_t r = 0; r < set.label.size(); ++r) groups.push_back("user" + std::to_string(r * r % 23));
  const auto parts = assign_folds(set, groups, 4, 0, 0);
  std::map<std::string, std::set<std::int32_t>> parts_of;
  for (std::size_t r = 0; r < parts.size(); ++r) parts_of[groups[r]].insert(parts[r]);
  for (const auto& [group, own] : parts_of) EXPECT_EQ(own.size(), 1u) << group;
  // 12 groups cannot be dealt evenly; no part may hold more than half of a class of 50.
  EXPECT_LE(least_and_most(parts, 4, set.label, 0).second, 25);
  EXPECT_GE(least_and_most(parts, 4, set.label, -1).first, 1);
  EXPECT_EQ(assign_folds(set, groups, 4, 0, 0), parts);
}

TEST(Folds, RefuseFewerRowsOrGroupsThanParts) {
  const TempFolder none;
  EXPECT_EQ(error_of(none,
                     [] {
                       assign_folds(labelled({0, 1, 0}), {}, 5, 0, 0);
                     }),
            "all.csv: error: 3 rows cannot be cut into 5 folds");
  const std::vector<std::string> groups = {"a", "a", "b", "a"};
  EXPECT_EQ(error_of(none,
                     [&] {
                       assign_folds(labelled({0, 1, 0, 1}), groups, 3, 0, 0);
                     }),
            "all.csv: error: 3 folds of 2 groups; allowed: at most as many folds as groups");
}

TEST(Split, TakesItsShareOfEveryClassAndNeverAWholeClass) {
  const Dataset set = skewed();
  for (const std::int64_t percent : {1, 10, 25, 50, 99}) {
    const auto kept = assign_split(set, percent, 0);
    std::vector<std::int64_t> in(4), out(4);
    for (std::size_t r = 0; r < kept.size(); ++r)
      ++(kept[r] == 1 ? in : out)[static_cast<std::size_t>(set.label[r])];
    for (std::size_t label = 0; label < 4; ++label) {
      EXPECT_GE(out[label], 1) << "class " << label << " keeps a row to train on";
      const double share = static_cast<double>((in[label] + out[label]) * percent) / 100;
      if (out[label] > 1) {
        EXPECT_NEAR(static_cast<double>(in[label]), share, 1.5) << percent << " " << label;
      }
    }
    EXPECT_EQ(assign_split(set, percent, 0), kept);
  }
  EXPECT_EQ(std::ranges::count(assign_split(set, 10, 0), 1), 10) << "9.7 rounds to 10";
}

TEST(Split, RefusesToKeepNothing) {
  const TempFolder none;
  EXPECT_EQ(error_of(none,
                     [] {
                       assign_split(labelled({0, 1, 2, 3}), 10, 0);
                     }),
            "all.csv: error: validation_split_percentage = 10 keeps none of the 4 rows");
}

}  // namespace
}  // namespace shoal::data
