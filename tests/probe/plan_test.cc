#include "bench/probe/plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "bench/probe/gemm_roles.h"

namespace shoal::probe {
namespace {

TEST(Plan, ThePartsFitTheWholeRun) {
  double seconds = 0;
  for (const PlannedPart& part : plan()) seconds += part.seconds;
  EXPECT_LE(seconds, kWholeRunSeconds);
  EXPECT_LT(kWholeRunSeconds, 240) << "under four minutes";
}

TEST(Plan, EveryLineHasANameOfItsOwnAndSaysWhatItIs) {
  std::set<std::string> names;
  for (const PlannedPart& part : plan()) {
    EXPECT_FALSE(part.lines.empty()) << part.name;
    for (const PlannedLine& line : part.lines) {
      EXPECT_TRUE(names.insert(line.name).second) << line.name << " twice";
      EXPECT_FALSE(line.what.empty()) << line.name;
    }
  }
}

TEST(Plan, TheLibraryIsAskedAtEveryRoleBucketAndBatch) {
  std::set<std::string> names;
  for (const PlannedLine& line : planned_part("cublaslt").lines) names.insert(line.name);
  for (const GemmRole& role : bert_base_roles()) {
    EXPECT_EQ(names.count(lt_bucket_bits_name(role.name())), 1u);
    for (const int tokens : kTokenBuckets) {
      EXPECT_EQ(names.count(lt_batch_bits_name(role.name(), tokens)), 1u);
      for (const int batch : kBatches) EXPECT_EQ(names.count(lt_speed_name(role.name(), tokens, batch)), 1u);
    }
  }
  EXPECT_EQ(names.size(), 12u + 12 * 5 * (1 + 3));
}

TEST(Plan, OneArrayPassesTwoToThe31) {
  EXPECT_GT(size::kBertBaseRow * size::kSpanRows, 1LL << 31);
}

TEST(Plan, TheJsonHasTheFormThatIsPromised) {
  const auto j = nlohmann::json::parse(plan_json());
  EXPECT_EQ(j.at("format"), "shoal-probe-plan-1");
  EXPECT_EQ(j.at("total_s"), kWholeRunSeconds);
  ASSERT_EQ(j.at("parts").size(), plan().size());
  for (const auto& part : j.at("parts")) {
    EXPECT_TRUE(part.at("name").is_string());
    EXPECT_GT(part.at("budget_s").get<double>(), 0);
    for (const auto& line : part.at("lines")) {
      for (const char* key : {"name", "unit", "what"}) EXPECT_TRUE(line.at(key).is_string()) << line;
      for (const char* key : {"bytes", "flops"}) EXPECT_GE(line.at(key).get<double>(), 0) << line;
      EXPECT_TRUE(line.at("needs_compute_90").is_boolean()) << line;
    }
  }
}

}  // namespace
}  // namespace shoal::probe
