// The rows of results.csv over seeds and folds.
#include "engine/result_means.h"

#include <gtest/gtest.h>

namespace shoal::engine {
namespace {

JobSpec job_of(const std::string& name, double rate, std::uint64_t seed) {
  JobSpec job;
  job.name = name;
  job.learning_rate = rate;
  job.seed = seed;
  return job;
}

Cells row_of(const std::string& name, const std::string& rate, const std::string& accuracy,
             const std::string& status = "done") {
  return {{"name", name}, {"learning_rate", rate}, {"best_accuracy", accuracy}, {"status", status}};
}

TEST(ResultMeans, JobsThatDifferInTheSeedAloneMakeARowEach) {
  std::vector<Cells> rows = {row_of("lr1-s1", "1e-5", "0.5"), row_of("lr1-s2", "1e-5", "0.75"),
                             row_of("lr2-s1", "2e-5", "0.9"), row_of("lr1-s3", "1e-5", "", "failed")};
  append_means({job_of("lr1-s1", 1e-5, 1), job_of("lr1-s2", 1e-5, 2), job_of("lr2-s1", 2e-5, 1),
                job_of("lr1-s3", 1e-5, 3)},
               {"learning_rate"}, {"best_accuracy", "best_f1"}, rows);
  ASSERT_EQ(rows.size(), 6u) << "one done job has no mean, a failed one does not count";
  EXPECT_EQ(rows[4]["name"], "mean of 2: lr1-s*");
  EXPECT_EQ(rows[4]["status"], "mean");
  EXPECT_EQ(rows[4]["learning_rate"], "1e-5");
  EXPECT_EQ(rows[4]["best_accuracy"], "0.625");
  EXPECT_EQ(rows[4]["best_f1"], "");
  EXPECT_EQ(rows[5]["name"], "sd of 2: lr1-s*");
  EXPECT_EQ(rows[5]["best_accuracy"].substr(0, 10), "0.17677669");
}

TEST(ResultMeans, FoldsOfOneCutBelongTogetherOthersDoNot) {
  std::vector<JobSpec> jobs;
  std::vector<Cells> rows;
  for (const std::int64_t n : {2, 3}) {
    for (std::int64_t fold = 0; fold < n; ++fold) {
      jobs.push_back(job_of("n" + std::to_string(n) + "-fold" + std::to_string(fold), 1e-5, 1));
      jobs.back().fold = Fold{.fold = fold, .n = n};
      rows.push_back(row_of(jobs.back().name, "1e-5", std::to_string(fold)));
    }
  }
  append_means(jobs, {}, {"best_accuracy"}, rows);
  ASSERT_EQ(rows.size(), 5u + 4u);
  EXPECT_EQ(rows[5]["name"], "mean of 2: n2-fold*");
  EXPECT_EQ(rows[7]["name"], "mean of 3: n3-fold*");
  EXPECT_EQ(rows[7]["best_accuracy"], "1");
  EXPECT_EQ(rows[8]["best_accuracy"], "1");
}

}  // namespace
}  // namespace shoal::engine
