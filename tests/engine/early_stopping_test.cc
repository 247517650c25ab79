// Early stopping as transformers' EarlyStoppingCallback does it, on jobs whose loss falls slowly.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/toy_fleet.h"

namespace shoal::engine {
namespace {

JobSpec standing_still(const std::filesystem::path& folder) {
  JobSpec job = toy_job(folder, "still", {.rows = 16});
  job.learning_rate = 1e-5;  // the loss falls at every evaluation, by less than the threshold
  job.hidden_dropout_prob = job.attention_probs_dropout_prob = job.classifier_dropout = 0;
  job.num_train_epochs = 10;
  job.early_stopping_threshold = 0.5;
  return job;
}

struct Notes : Observer {
  std::vector<std::string> notes;
  void on_note(std::int64_t, const std::string& note) override { notes.push_back(note); }
};

TEST(EarlyStopping, EndsAfterSoManyEvaluationsWithoutProgress) {
  const TemporaryFolder folder;
  JobSpec job = standing_still(folder.path());
  job.early_stopping_patience = 3;
  Notes seen;
  const FleetResult result = train_toys(toy_fleet(folder / "run", {job}, 1), seen);
  const JobResult& ended = result.jobs.at(0);
  EXPECT_EQ(ended.status, JobStatus::kDone);
  // The first evaluation is progress, the next three are not.
  EXPECT_EQ(ended.updates, 4 * 2);
  const std::string why = "stopped early at epoch 4: 3 evaluations without a better loss";
  EXPECT_EQ(ended.reason, why);
  EXPECT_EQ(std::ranges::count(seen.notes, why), 1);
  EXPECT_TRUE(std::filesystem::exists(ended.folder / "job.toml"));
}

TEST(EarlyStopping, GoesOnWithoutPatienceAndWithEnoughOfIt) {
  const TemporaryFolder folder;
  JobSpec without = standing_still(folder.path());
  without.early_stopping_threshold = 0;
  JobSpec enough = standing_still(folder.path());
  enough.name = "enough";
  enough.early_stopping_patience = 20;
  const FleetResult result = train_toys(toy_fleet(folder / "run", {without, enough}, 2));
  for (const JobResult& job : result.jobs) {
    EXPECT_EQ(job.updates, 20);
    EXPECT_EQ(job.reason, "");
  }
}

}  // namespace
}  // namespace shoal::engine
