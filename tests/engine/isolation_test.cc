// The isolation law (DESIGN section 5) on whole jobs: what a job leaves is the same bits whoever trains
// beside it, in whichever slot, with however many slots and threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/engine/toy_fleet.h"

namespace shoal::engine {
namespace {

// Four jobs as unlike as a group allows: labels 2 and 150, vocabularies, batch sizes, lengths under and
// over 128, accumulation, and one that diverges to NaN.
std::vector<JobSpec> unlike_jobs(const std::filesystem::path& folder, Precision precision) {
  std::vector<JobSpec> jobs = {
      toy_job(folder, "plain", {.seed = 1}),
      toy_job(folder, "labels", {.rows = 160, .labels = 150, .words = 300, .seed = 2}),
      toy_job(folder, "long", {.rows = 24, .words = 90, .min_words = 20, .max_words = 200, .seed = 3}),
      toy_job(folder, "diverges", {.rows = 40, .seed = 4}),
  };
  jobs[1].per_device_train_batch_size = 32;
  jobs[1].seed = 7;
  jobs[2].per_device_train_batch_size = 3;
  jobs[2].gradient_accumulation_steps = 3;
  jobs[2].weight_decay = 0.01;
  jobs[3].learning_rate = 1e30;
  for (JobSpec& job : jobs) job.precision = precision;
  return jobs;
}

using Files = std::map<std::string, std::string>;  // weights by job; "" where it failed

Files train(std::vector<JobSpec> jobs, std::int64_t slots, int threads) {
  const TemporaryFolder output;
  const std::unique_ptr<Device> device = make_device("cpu", {.threads = threads});
  Observer quiet;
  const std::atomic<bool> stop = false;
  const FleetSpec fleet = toy_fleet(output / "run", std::move(jobs), slots);
  const FleetResult result = train_fleet(fleet, *device, quiet, stop);
  Files files;
  for (const JobResult& job : result.jobs) {
    const std::string& name = fleet.jobs[static_cast<std::size_t>(job.job)].name;
    files[name] = job.status == JobStatus::kDone ? file_bytes(job.folder / "model.safetensors") : "";
  }
  return files;
}

class IsolationTest : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    jobs_ = unlike_jobs(data_.path(), GetParam());
    for (const JobSpec& job : jobs_) alone_[job.name] = train({job}, 1, 1).at(job.name);
  }
  void expect_as_alone(const Files& files, const std::string& how) {
    ASSERT_EQ(files.size(), alone_.size()) << how;
    for (const auto& [name, bytes] : files) EXPECT_TRUE(bytes == alone_.at(name)) << name << ", " << how;
  }

  TemporaryFolder data_;
  std::vector<JobSpec> jobs_;
  Files alone_;
};

TEST_P(IsolationTest, TheJobsAreWhatTheTestNeeds) {
  EXPECT_FALSE(alone_.at("plain").empty());
  EXPECT_FALSE(alone_.at("labels").empty());
  EXPECT_FALSE(alone_.at("long").empty());
  EXPECT_TRUE(alone_.at("diverges").empty());
}

TEST_P(IsolationTest, AloneAndAsOneOfFourInEverySlot) {
  for (int rotation = 0; rotation < 4; ++rotation) {
    std::vector<JobSpec> jobs = jobs_;
    std::rotate(jobs.begin(), jobs.begin() + rotation, jobs.end());
    expect_as_alone(train(jobs, 4, 2), "rotation " + std::to_string(rotation));
  }
}

TEST_P(IsolationTest, WithAnyNumberOfThreads) {
  for (const int threads : {1, 2, 16})
    expect_as_alone(train(jobs_, 4, threads), std::to_string(threads) + " threads");
}

TEST_P(IsolationTest, ThroughRefilledSlots) {
  for (const std::int64_t slots : {1, 2, 3})
    expect_as_alone(train(jobs_, slots, 2), std::to_string(slots) + " slots");
}

INSTANTIATE_TEST_SUITE_P(Cpu, IsolationTest, testing::Values(Precision::kFp32, Precision::kAuto),
                         [](const auto& tested) {
                           return std::string(tested.param == Precision::kFp32 ? "fp32" : "auto");
                         });

}  // namespace
}  // namespace shoal::engine
