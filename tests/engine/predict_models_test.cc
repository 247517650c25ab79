// Several models in one lockstep answer what each answers alone, bit for bit.
#include <gtest/gtest.h>

#include "tests/engine/toy_fleet.h"

namespace shoal::engine {
namespace {

TEST(PredictModels, EachAnswersAsAlone) {
  const TemporaryFolder folder;
  std::vector<JobSpec> jobs = {
      toy_job(folder.path(), "two", {.rows = 16}),
      toy_job(folder.path(), "five", {.rows = 24, .labels = 5, .words = 90, .seed = 2}),
      toy_job(folder.path(), "other", {.rows = 16, .seed = 3}),
  };
  jobs[2].model.preset = "bert-mini";
  for (JobSpec& job : jobs) job.max_steps = 2;
  const FleetResult trained = train_toys(toy_fleet(folder / "run", jobs, 0));
  std::vector<std::filesystem::path> models;
  for (const JobResult& job : trained.jobs) models.push_back(job.folder);

  const std::unique_ptr<Device> device = make_device("cpu", {.threads = 2});
  EvalRequest request{.file = jobs[1].train_file, .batch_size = 5};
  const std::vector<Predictions> together = predict_models(request, models, *device);
  const std::vector<std::pair<std::string, std::string>> texts = {{"w0 w1 w2", ""}, {"", ""}};
  const std::vector<Predictions> of_texts = predict_models(request, models, texts, *device);
  ASSERT_EQ(together.size(), 3u);
  for (std::size_t m = 0; m < models.size(); ++m) {
    request.model = models[m];
    const Predictions alone = predict_models(request, {&request.model, 1}, *device).front();
    EXPECT_EQ(together[m].labels, alone.labels);
    EXPECT_EQ(together[m].rows, 24);
    EXPECT_TRUE(together[m].logits == alone.logits) << m;
    EXPECT_TRUE(together[m].probabilities == alone.probabilities) << m;
    EXPECT_TRUE(of_texts[m].logits ==
                predict_models(request, {&request.model, 1}, texts, *device).front().logits)
        << m;
  }
  EXPECT_FALSE(together[0].logits == together[2].logits);
}

}  // namespace
}  // namespace shoal::engine
