// predictions.tsv: what a job says of its test file is what its exported folder says.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engine/predictions_file.h"
#include "tests/engine/toy_fleet.h"

namespace shoal::engine {
namespace {

std::vector<std::vector<std::string>> cells_of(const std::filesystem::path& file) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream in(file_bytes(file));
  for (std::string line; std::getline(in, line);) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, '\t');) rows.back().push_back(cell);
  }
  return rows;
}

TEST(PredictionsFile, EscapesNamesAndLeavesOutLabelsThatAreNotThere) {
  const TemporaryFolder folder;
  data::Dataset set;
  set.label = {-1, -1};
  set.line = {2, 5};
  const data::Subset rows(std::make_shared<data::Dataset>(set));
  const std::vector<float> logits = {0, 0, 1, 3};
  write_predictions(folder / "p.tsv", rows, data::LabelMap({"a\tb", "c\\\nd"}), false, logits);
  EXPECT_EQ(
      file_bytes(folder / "p.tsv"),
      "row\tprediction\tp_a\\tb\tp_c\\\\\\nd\n2\ta\\tb\t0.5\t0.5\n5\tc\\\\\\nd\t0.11920292\t0.8807971\n");
}

// With the best weights where those are exported: they differ from the last here.
TEST(TestFile, IsPredictedByTheExportedWeights) {
  const TemporaryFolder folder;
  JobSpec job = toy_job(folder.path(), "job", {.rows = 40, .dev_rows = 20});
  job.test_file = folder / "job.dev.tsv";
  job.load_best_model_at_end = true;
  job.metric_for_best_model = "accuracy";
  job.num_train_epochs = 4;
  JobSpec bare = job;
  bare.name = "bare";
  bare.test_file = folder / "bare.tsv";
  std::ofstream(bare.test_file) << "id\ttext\n1\tw0 w3\n2\tw1\n";
  const FleetResult result = train_toys(toy_fleet(folder / "run", {job, bare}, 2));
  const JobResult& done = result.jobs.at(0);
  ASSERT_EQ(done.status, JobStatus::kDone) << done.reason;
  EXPECT_EQ(done.test, done.best) << "the test file is the validation file";

  const std::unique_ptr<Device> device = make_device("cpu", {.threads = 2});
  const EvalRequest request = fp32_request(done.folder, job.test_file);
  const Predictions answer = predict_models(request, {&request.model, 1}, *device).front();
  const auto rows = cells_of(done.folder / "predictions.tsv");
  ASSERT_EQ(rows.size(), 21u);
  EXPECT_EQ(rows[0], (std::vector<std::string>{"row", "label", "prediction", "p_class0", "p_class1"}));
  for (std::size_t r = 1; r < rows.size(); ++r) {
    EXPECT_EQ(rows[r][0], std::to_string(r + 1));
    EXPECT_EQ(std::stof(rows[r][3]), answer.probabilities[2 * (r - 1)]) << r;
  }
  const auto without = cells_of(result.jobs.at(1).folder / "predictions.tsv");
  EXPECT_EQ(without.at(0), (std::vector<std::string>{"row", "prediction", "p_class0", "p_class1"}));
  EXPECT_EQ(without.size(), 3u);
  EXPECT_TRUE(result.jobs.at(1).test.empty());
  EXPECT_NE(file_bytes(folder / "run" / "results.csv").find(",test_loss,test_accuracy,"), std::string::npos);
}

}  // namespace
}  // namespace shoal::engine
