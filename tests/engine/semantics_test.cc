// What training means: cases of the list of awkward inputs that concern a job as a whole.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>

#include "kernels/base/error.h"
#include "models/safetensors.h"
#include "tests/engine/toy_fleet.h"

namespace shoal::engine {
namespace {

// Trains on one device and keeps what the observer saw.
struct Recorder : Observer {
  std::map<std::int64_t, std::vector<JobProgress>> progress;
  std::map<std::int64_t, std::vector<Metrics>> evaluations;
  std::vector<std::string> notes;
  void on_progress(const JobProgress& p) override { progress[p.job].push_back(p); }
  void on_evaluation(std::int64_t job, double, std::int64_t, const Metrics& m) override {
    evaluations[job].push_back(m);
  }
  void on_note(std::int64_t, const std::string& note) override { notes.push_back(note); }
};

class SemanticsTest : public testing::Test {
 protected:
  FleetResult train(std::vector<JobSpec> jobs, std::int64_t slots = 0) {
    const std::unique_ptr<Device> device = make_device("cpu", {.threads = 2});
    fleet_ = toy_fleet(data_ / ("run" + std::to_string(++runs_)), std::move(jobs), slots);
    if (slots == 0) fleet_.slots.reset();
    seen_ = {};
    const std::atomic<bool> stop = false;
    return train_fleet(fleet_, *device, seen_, stop);
  }
  std::string weights(const FleetResult& result, std::size_t job) const {
    return file_bytes(result.jobs.at(job).folder / "model.safetensors");
  }
  JobSpec named(JobSpec job, const std::string& name) {
    job.name = name;
    return job;
  }

  TemporaryFolder data_;
  FleetSpec fleet_;
  Recorder seen_;
  int runs_ = 0;
};

std::vector<float> tensor(const std::filesystem::path& folder, const std::string& name) {
  const models::SafetensorsFile file(folder / "model.safetensors");
  for (const models::StoredTensor& stored : file.tensors()) {
    if (stored.name != name) continue;
    const std::span<const std::byte> bytes = file.bytes(stored);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  throw Error("no tensor " + name);
}

// Case 44: the loss is normalised over the items of the whole window, not micro-batch by micro-batch.
TEST_F(SemanticsTest, AccumulationNormalisesOverTheWindow) {
  JobSpec whole = toy_job(data_.path(), "a", {.rows = 10});
  whole.hidden_dropout_prob = whole.attention_probs_dropout_prob = whole.classifier_dropout = 0;
  whole.per_device_train_batch_size = 10;
  whole.max_steps = 3;
  JobSpec pieces = named(whole, "b");  // micro-batches of 4, 4 and 2 rows
  pieces.per_device_train_batch_size = 4;
  pieces.gradient_accumulation_steps = 3;
  train({whole, pieces});
  ASSERT_EQ(seen_.progress[0].size(), 3u);
  for (std::size_t u = 0; u < 3; ++u) {
    // fp32 sums in another order; three updates carry it on.
    EXPECT_NEAR(seen_.progress[1][u].loss, seen_.progress[0][u].loss, 1e-5 * seen_.progress[0][u].loss) << u;
    EXPECT_NEAR(seen_.progress[1][u].grad_norm, seen_.progress[0][u].grad_norm,
                1e-4 * seen_.progress[0][u].grad_norm);
  }
}

// Case 46: clipping acts once, on the window's norm, and on each job by its own norm.
TEST_F(SemanticsTest, ClippingIsByTheJobsOwnNorm) {
  const JobSpec tight = [&] {
    JobSpec job = toy_job(data_.path(), "tight", {});
    job.max_grad_norm = 1e-3;
    return job;
  }();
  JobSpec loud = named(tight, "loud");
  loud.max_grad_norm = 0;
  loud.learning_rate = 1;
  const std::string alone = weights(train({tight}), 0);
  EXPECT_TRUE(weights(train({tight, loud}), 0) == alone);
  JobSpec open = named(tight, "open");
  open.max_grad_norm = 0;
  EXPECT_FALSE(weights(train({open}), 0) == alone);
}

// Case 47: the first update of a warm-up is made at rate 0 and changes nothing.
TEST_F(SemanticsTest, WarmupStartsAtZero) {
  JobSpec job = toy_job(data_.path(), "a", {});
  job.max_steps = 1;
  job.warmup_steps = 1;
  JobSpec still = named(job, "b");
  still.learning_rate = 5;
  const FleetResult result = train({job, still});
  EXPECT_TRUE(weights(result, 0) == weights(result, 1));
}

// Case 56: the seed covers the new head; the same job twice is the same.
TEST_F(SemanticsTest, TheSeedCoversTheHead) {
  JobSpec job = toy_job(data_.path(), "a", {});
  JobSpec other = named(job, "c");
  other.seed = 43;
  const FleetResult result = train({job, named(job, "b"), other});
  EXPECT_TRUE(weights(result, 0) == weights(result, 1));
  EXPECT_NE(tensor(result.jobs[0].folder, "classifier.weight"),
            tensor(result.jobs[2].folder, "classifier.weight"));
}

// Case 61: a job that diverges is failed with its update and rows; its neighbours are unchanged.
TEST_F(SemanticsTest, DivergenceEndsItsJobAlone) {
  const JobSpec good = toy_job(data_.path(), "good", {});
  JobSpec bad = toy_job(data_.path(), "bad", {.seed = 9});
  bad.learning_rate = 1e30;
  const std::string alone = weights(train({good}), 0);
  const FleetResult result = train({good, bad, named(good, "third")});
  EXPECT_TRUE(weights(result, 0) == alone);
  EXPECT_TRUE(weights(result, 2) == alone);
  EXPECT_EQ(result.jobs[1].status, JobStatus::kFailed);
  EXPECT_NE(result.jobs[1].reason.find("non-finite"), std::string::npos) << result.jobs[1].reason;
  EXPECT_NE(result.jobs[1].reason.find("at update 2"), std::string::npos) << result.jobs[1].reason;
  EXPECT_NE(result.jobs[1].reason.find("bad.train.tsv"), std::string::npos) << result.jobs[1].reason;
  EXPECT_FALSE(std::filesystem::exists(result.jobs[1].folder / "model.safetensors"));
}

// Case 62: no dropout in evaluation, though others train in the same lane; so evaluating twice is equal.
TEST_F(SemanticsTest, EvaluationHasNoDropout) {
  JobSpec job = toy_job(data_.path(), "a", {.rows = 32});
  job.learning_rate = 1e-30;  // nothing moves: every evaluation sees the same weights
  job.hidden_dropout_prob = job.attention_probs_dropout_prob = job.classifier_dropout = 0.5;
  JobSpec neighbour = toy_job(data_.path(), "b", {.rows = 70, .seed = 3});
  train({job, neighbour});
  ASSERT_EQ(seen_.evaluations[0].size(), 2u);
  EXPECT_EQ(seen_.evaluations[0][0], seen_.evaluations[0][1]);
  // The training losses of the same two epochs do have dropout.
  EXPECT_NE(seen_.progress[0].front().loss, seen_.evaluations[0][0].front().second);
}

// Case 74: equal jobs stay equal, other seeds drop other elements, and a rate of 0 changes no bit.
TEST_F(SemanticsTest, EachJobHasItsOwnHyperparameters) {
  JobSpec job = toy_job(data_.path(), "a", {});
  job.data_seed = 5;
  JobSpec frozen = named(job, "frozen"), frozen_too = named(job, "frozen-longer");
  frozen.learning_rate = frozen_too.learning_rate = 0;
  frozen_too.num_train_epochs = 1;
  JobSpec seed = named(job, "seed");
  seed.seed = 1000;
  const FleetResult result = train({job, named(job, "same"), frozen, frozen_too, seed});
  EXPECT_TRUE(weights(result, 0) == weights(result, 1));
  EXPECT_TRUE(weights(result, 2) == weights(result, 3));
  EXPECT_FALSE(weights(result, 0) == weights(result, 2));
  EXPECT_NE(seen_.progress[0].front().loss, seen_.progress[4].front().loss);
}

// Case 59: a text's logits do not depend on the lengths beside it: nothing is padded.
TEST_F(SemanticsTest, ATextIsTheSameInAnyCompany) {
  const JobSpec job = toy_job(data_.path(), "a", {});
  const FleetResult result = train({job});
  const std::unique_ptr<Device> device = make_device("cpu");
  EvalRequest request = fp32_request(result.jobs[0].folder, {});
  request.data.max_seq_length = 512;
  const std::pair<std::string, std::string> text{"w1 w5 w9 w2 w7", ""};
  const Predictions alone = predict_models(request, {&request.model, 1}, {&text, 1}, *device).front();
  for (const int words : {9, 10, 121, 122, 329, 505}) {
    std::string other = "w3";
    for (int i = 1; i < words; ++i) other += " w4";
    const std::vector<std::pair<std::string, std::string>> texts = {{other, ""}, text, {other, ""}};
    const Predictions beside = predict_models(request, {&request.model, 1}, texts, *device).front();
    for (std::size_t k = 0; k < 2; ++k) {
      // Another row of a GEMM tile may sum in another order: a few roundings of logits of size 1.
      EXPECT_NEAR(beside.logits[2 + k], alone.logits[k], 1e-5) << words;
    }
  }
}

TEST_F(SemanticsTest, BestModelIsWhatIsExported) {
  JobSpec job = toy_job(data_.path(), "a", {.rows = 64});
  job.learning_rate = 5e-3;  // rough enough that the last is not the best
  job.num_train_epochs = 4;
  job.metric_for_best_model = "loss";
  job.load_best_model_at_end = true;
  const FleetResult result = train({job});
  const std::unique_ptr<Device> device = make_device("cpu");
  EvalRequest request = fp32_request(result.jobs[0].folder, job.validation_file);
  request.data.max_seq_length = 256;
  EXPECT_EQ(evaluate_model(request, *device), result.jobs[0].best);
}

TEST_F(SemanticsTest, ASignalStopsTheRun) {
  const std::unique_ptr<Device> device = make_device("cpu");
  const FleetSpec fleet = toy_fleet(data_ / "stopped", {toy_job(data_.path(), "a", {})}, 1);
  const std::atomic<bool> stop = true;
  Observer quiet;
  const FleetResult result = train_fleet(fleet, *device, quiet, stop);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.jobs[0].status, JobStatus::kStopped);
}

TEST_F(SemanticsTest, WhatCanBeSeenBeforeTrainingStopsTheFleet) {
  JobSpec good = toy_job(data_.path(), "good", {});
  JobSpec bad = toy_job(data_.path(), "bad", {});
  std::ofstream(bad.validation_file, std::ios::app) << "w1 w2\tunheard\n";
  JobSpec metric = named(good, "metric");
  metric.metric_for_best_model = "speed";
  try {
    train({good, bad, metric});
    FAIL() << "not refused";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("unheard"), std::string::npos) << text;
    EXPECT_NE(text.find("speed"), std::string::npos) << text;
  }
  EXPECT_FALSE(std::filesystem::exists(fleet_.output_dir)) << "nothing half-written";
}

TEST_F(SemanticsTest, OnErrorSkipTrainsTheRest) {
  const std::unique_ptr<Device> device = make_device("cpu");
  JobSpec bad = toy_job(data_.path(), "bad", {});
  std::filesystem::remove(bad.train_file);
  FleetSpec fleet = toy_fleet(data_ / "skip", {bad, toy_job(data_.path(), "good", {})}, 2);
  fleet.on_error = OnError::kSkip;
  const std::atomic<bool> stop = false;
  Observer quiet;
  const FleetResult result = train_fleet(fleet, *device, quiet, stop);
  EXPECT_EQ(result.jobs[0].status, JobStatus::kFailed);
  EXPECT_NE(result.jobs[0].reason.find("bad.train.tsv"), std::string::npos) << result.jobs[0].reason;
  EXPECT_EQ(result.jobs[1].status, JobStatus::kDone);
}

TEST_F(SemanticsTest, AnEarlierRunIsNotOverwrittenUnasked) {
  const JobSpec job = toy_job(data_.path(), "a", {});
  const std::unique_ptr<Device> device = make_device("cpu");
  FleetSpec fleet = toy_fleet(data_ / "twice", {job}, 1);
  const std::atomic<bool> stop = false;
  Observer quiet;
  train_fleet(fleet, *device, quiet, stop);
  EXPECT_THROW(train_fleet(fleet, *device, quiet, stop), Error);
  fleet.overwrite = true;
  EXPECT_NO_THROW(train_fleet(fleet, *device, quiet, stop));
  fleet.output_dir = data_.path();  // not a run: never removed
  EXPECT_THROW(train_fleet(fleet, *device, quiet, stop), Error);
  EXPECT_TRUE(std::filesystem::exists(job.train_file));
}

// Case 41: a model with one token type cannot tell the texts of a pair apart.
TEST_F(SemanticsTest, RefusesPairsWithAModelOfOneTokenType) {
  JobSpec job = toy_job(data_.path(), "a", {.rows = 8});
  job.max_steps = 1;
  const std::filesystem::path folder = train({job}).jobs.at(0).folder;
  std::string config = file_bytes(folder / "config.json");
  const std::string key = "\"type_vocab_size\": ";
  config.at(config.find(key) + key.size()) = '1';
  std::ofstream(folder / "config.json") << config;
  JobSpec pairs = named(job, "pairs");
  pairs.model = {.folder = folder, .preset = "", .vocab = {}};
  pairs.text_pair = data::Column::named("text");
  try {
    train({pairs});
    FAIL() << "trained";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "toy: text_pair needs a model with two token types; type_vocab_size is 1");
  }
}

// Case 28: one label is no classification, and no regression either.
TEST_F(SemanticsTest, RefusesOneClassOnly) {
  JobSpec job = toy_job(data_.path(), "a", {.rows = 4, .labels = 1});
  try {
    train({job});
    FAIL() << "trained";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has one class only ('class0' in all 4 rows)"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace shoal::engine
