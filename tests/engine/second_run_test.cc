// A second run on the same folder: what is done and unchanged stays, the rest is trained.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernels/base/error.h"
#include "tests/engine/toy_fleet.h"

namespace shoal::engine {
namespace {

struct Started : Observer {
  std::vector<std::int64_t> jobs;
  std::vector<std::string> notes;
  void on_job_start(std::int64_t job, std::int64_t) override { jobs.push_back(job); }
  void on_note(std::int64_t, const std::string& note) override { notes.push_back(note); }
};

class SecondRunTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b", "c"}) {
      jobs_.push_back(toy_job(folder_.path(), name, {.rows = 16}));
      jobs_.back().num_train_epochs = 1;
    }
  }
  FleetSpec fleet(std::vector<JobSpec> jobs, bool resume = true) {
    FleetSpec fleet = toy_fleet(folder_ / "run", std::move(jobs), 2);
    fleet.resume = resume;
    return fleet;
  }
  std::string error_of(const FleetSpec& fleet) {
    try {
      train_toys(fleet);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
  std::vector<JobSpec> jobs_;
};

TEST_F(SecondRunTest, KeepsWhatIsDoneTrainsWhatIsNewAndNamesWhatIsGone) {
  const FleetResult first = train_toys(fleet({jobs_[0], jobs_[1]}, false));
  EXPECT_NE(error_of(fleet({jobs_[0]}, false)).find("exists already; --resume"), std::string::npos);
  const std::string weights = file_bytes(folder_ / "run" / "b" / "model.safetensors");

  Started seen;
  const FleetResult second = train_toys(fleet({jobs_[1], jobs_[2]}), seen);
  EXPECT_EQ(seen.jobs, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(second.jobs.at(0).status, JobStatus::kDone);
  EXPECT_EQ(second.jobs.at(0).last, first.jobs.at(1).last);
  EXPECT_EQ(second.jobs.at(0).updates, first.jobs.at(1).updates);
  EXPECT_TRUE(file_bytes(folder_ / "run" / "b" / "model.safetensors") == weights);
  EXPECT_EQ(std::ranges::count(seen.notes,
                               (folder_ / "run" / "a").string() + ": of no job of this run; left alone"),
            1);
  const std::string results = file_bytes(folder_ / "run" / "results.csv");
  for (const char* row : {"\nb,done,", "\nc,done,", "\na,done,"})
    EXPECT_NE(results.find(row), std::string::npos) << row << results;
}

TEST_F(SecondRunTest, RefusesChangedJobsWithBothValuesUnlessToldToOverwrite) {
  train_toys(fleet({jobs_[0], jobs_[1]}, false));
  jobs_[0].learning_rate = 2e-3;
  jobs_[0].precision = Precision::kFp32;
  const std::string error = error_of(fleet({jobs_[0], jobs_[1]}));
  EXPECT_NE(error.find("\njob a: learning_rate: 0.001 -> 0.002"), std::string::npos) << error;
  EXPECT_EQ(error.find("job b"), std::string::npos) << error;

  FleetSpec told = fleet({jobs_[0], jobs_[1]});
  told.overwrite = true;
  Started seen;
  train_toys(told, seen);
  EXPECT_EQ(seen.jobs, (std::vector<std::int64_t>{0}));
}

// Case 53: another batch or accumulation is not taken up in silence.
TEST_F(SecondRunTest, AnotherBatchIsAChange) {
  train_toys(fleet({jobs_[0]}, false));
  const std::string before =
      fmt::format("{} -> {}", jobs_[0].per_device_train_batch_size, jobs_[0].per_device_train_batch_size + 8);
  jobs_[0].per_device_train_batch_size += 8;
  jobs_[0].gradient_accumulation_steps = 3;
  const std::string error = error_of(fleet({jobs_[0]}));
  EXPECT_NE(error.find("\njob a: per_device_train_batch_size: " + before), std::string::npos) << error;
  EXPECT_NE(error.find("\njob a: gradient_accumulation_steps: 1 -> 3"), std::string::npos) << error;
}

TEST_F(SecondRunTest, ChangedDataAreAChange) {
  train_toys(fleet({jobs_[0]}, false));
  std::ofstream(jobs_[0].train_file, std::ios::app) << "w0 w1\tclass0\n";
  EXPECT_NE(error_of(fleet({jobs_[0]})).find("\njob a: train_file sha256: "), std::string::npos);
}

// Killed between two jobs: the one without job.toml starts over, and its log with it.
TEST_F(SecondRunTest, TrainsAnewWhatWasNotFinished) {
  train_toys(fleet({jobs_[0], jobs_[1]}, false));
  const auto folder = folder_ / "run" / "b";
  const std::string weights = file_bytes(folder / "model.safetensors");
  const std::string log = file_bytes(folder / "metrics.jsonl");
  std::filesystem::remove(folder / "job.toml");
  Started seen;
  train_toys(fleet({jobs_[0], jobs_[1]}), seen);
  EXPECT_EQ(seen.jobs, (std::vector<std::int64_t>{1}));
  EXPECT_TRUE(file_bytes(folder / "model.safetensors") == weights);
  EXPECT_EQ(std::ranges::count(file_bytes(folder / "metrics.jsonl"), '\n'), std::ranges::count(log, '\n'));
}

TEST_F(SecondRunTest, FleetLogTellsTheRunInOrder) {
  train_toys(fleet({jobs_[0]}, false));
  std::istringstream in(file_bytes(folder_ / "run" / "fleet.jsonl"));
  std::vector<std::string> events;
  for (std::string line; std::getline(in, line);) {
    const auto event = nlohmann::json::parse(line);
    events.push_back(event.at("event"));
    EXPECT_TRUE(event.at("event") != "job_end" || event.at("status") == "done") << line;
  }
  std::erase(events, "note");
  EXPECT_EQ(events,
            (std::vector<std::string>{"plan", "job_start", "progress", "evaluation", "job_end", "run_end"}));
}

}  // namespace
}  // namespace shoal::engine
