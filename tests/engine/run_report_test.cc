// metrics.jsonl and results.csv, read back.
#include "engine/run_report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

using nlohmann::ordered_json;

class RunReport : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "run_report_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return (std::ostringstream() << in.rdbuf()).str();
  }
  static std::vector<ordered_json> lines(const std::filesystem::path& file) {
    std::vector<ordered_json> all;
    std::istringstream in(read(file));
    for (std::string line; std::getline(in, line);) all.push_back(ordered_json::parse(line));
    return all;
  }

  std::filesystem::path folder_;
};

const JobProgress kProgress{.update = 10,
                            .updates = 30,
                            .epoch = 1.25,
                            .loss = 0.1,
                            .grad_norm = 3.5,
                            .learning_rate = 5e-5,
                            .tokens = 4096,
                            .seconds = 1.5};

TEST_F(RunReport, ProgressIsOneObjectALine) {
  const auto file = folder_ / "metrics.jsonl";
  MetricsLog(file).progress(kProgress);
  EXPECT_EQ(read(file),
            "{\"update\":10,\"epoch\":1.25,\"loss\":0.1,\"grad_norm\":3.5,\"learning_rate\":5e-05,"
            "\"tokens\":4096,\"seconds\":1.5}\n");
}

TEST_F(RunReport, EvaluationHasEveryMetricWithItsPrefix) {
  const auto file = folder_ / "metrics.jsonl";
  MetricsLog(file).evaluation(2, 20, {{"loss", 0.25}, {"accuracy", 1}});
  EXPECT_EQ(read(file), "{\"update\":20,\"epoch\":2.0,\"eval_loss\":0.25,\"eval_accuracy\":1.0}\n");
}

TEST_F(RunReport, LinesAreThereAtOnceAndAppend) {
  const auto file = folder_ / "metrics.jsonl";
  MetricsLog log(file);
  log.progress(kProgress);
  EXPECT_EQ(lines(file).size(), 1u) << "before the log is closed: a killed run keeps its lines";
  log.evaluation(1, 10, {{"loss", 1}});
  MetricsLog(file).progress(kProgress);
  EXPECT_EQ(lines(file).size(), 3u);
}

// JSON has no NaN: other readers would fail on the whole line.
TEST_F(RunReport, NanAndInfinityAreNull) {
  const auto file = folder_ / "metrics.jsonl";
  JobProgress progress = kProgress;
  progress.loss = std::nan("");
  progress.grad_norm = std::numeric_limits<double>::infinity();
  MetricsLog log(file);
  log.progress(progress);
  log.evaluation(1, 10, {{"loss", -std::numeric_limits<double>::infinity()}});
  const auto all = lines(file);
  EXPECT_TRUE(all.at(0).at("loss").is_null());
  EXPECT_TRUE(all.at(0).at("grad_norm").is_null());
  EXPECT_TRUE(all.at(1).at("eval_loss").is_null());
}

TEST_F(RunReport, DoublesReadBackTheSame) {
  const auto file = folder_ / "metrics.jsonl";
  JobProgress progress = kProgress;
  progress.loss = 1.0 / 3;
  MetricsLog(file).progress(progress);
  EXPECT_EQ(lines(file).at(0).at("loss").get<double>(), 1.0 / 3);
}

TEST_F(RunReport, ALogThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(MetricsLog(folder_ / "missing" / "metrics.jsonl"), Error);
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here: a full disk is not tried";
  MetricsLog log("/dev/full");
  EXPECT_THROW(log.progress(kProgress), Error);
}

FleetSpec fleet_of(std::vector<JobSpec> jobs) {
  FleetSpec fleet;
  fleet.jobs = std::move(jobs);
  return fleet;
}

JobSpec job_of(const char* name, std::map<std::string, std::string> variables) {
  JobSpec job;
  job.name = name;
  job.variables = std::move(variables);
  return job;
}

TEST_F(RunReport, ResultsAreOneRowAJobInFileOrder) {
  const FleetSpec fleet = fleet_of({job_of("mood", {{"seed", "1"}, {"learning_rate", "3e-5"}}),
                                    job_of("topic", {{"seed", "2"}}), job_of("waiting", {})});
  const JobResult topic{
      .job = 1, .status = JobStatus::kFailed, .reason = "loss is NaN, update 7", .updates = 7};
  const JobResult mood{.job = 0,
                       .status = JobStatus::kDone,
                       .best = {{"loss", 0.25}, {"accuracy", 0.9375}, {"f1", 1.0 / 3}},
                       .best_epoch = 2,
                       .last = {{"loss", 0.5}, {"accuracy", -std::nan("")}, {"f1", 0}},
                       .updates = 30,
                       .tokens = 4096,
                       .seconds = 1.25,
                       .card_seconds = 0.5,
                       .folder = "runs/demo/mood"};
  const auto file = folder_ / "results.csv";
  write_results(file, fleet, {topic, mood});
  EXPECT_EQ(
      read(file),
      "name,learning_rate,seed,status,reason,best_loss,best_accuracy,best_f1,eval_loss,eval_accuracy,eval_f1,"
      "best_epoch,updates,tokens,seconds,card_seconds,share,folder\r\n"
      "mood,3e-5,1,done,,0.25,0.9375,0.3333333333333333,0.5,nan,0,2,30,4096,1.250,0.500,1.0000,runs/demo/"
      "mood\r\n"
      "topic,,2,failed,\"loss is NaN, update 7\",,,,,,,,7,0,0.000,0.000,0.0000,\r\n"
      "waiting,,,queued,,,,,,,,,0,0,0.000,0.000,,\r\n");
}

// Jobs with other label counts measure other things: f1 keeps its place among the columns.
TEST_F(RunReport, MetricsAreTheUnionOverJobsInPrintingOrder) {
  const FleetSpec fleet = fleet_of({job_of("three", {}), job_of("two", {})});
  const JobResult three{.job = 0, .last = {{"loss", 1}, {"f1_macro", 0.5}, {"extra", 2}}};
  const JobResult two{.job = 1, .last = {{"loss", 1}, {"f1", 0.75}, {"f1_macro", 0.25}}};
  const auto file = folder_ / "results.csv";
  write_results(file, fleet, {three, two});
  const std::string text = read(file);
  EXPECT_EQ(text.substr(0, text.find("\r\n")),
            "name,status,reason,eval_loss,eval_f1,eval_f1_macro,eval_extra,best_epoch,updates,tokens,seconds,"
            "card_seconds,share,folder");
  EXPECT_NE(text.find("\nthree,done,,1,,0.5,2,"), std::string::npos);
  EXPECT_NE(text.find("\ntwo,done,,1,0.75,0.25,,"), std::string::npos);
}

TEST_F(RunReport, FieldsAreQuotedByRfc4180) {
  const FleetSpec fleet = fleet_of({job_of("a \"b\", c", {{"text", "two\nlines"}, {"odd,key", "x"}})});
  const auto file = folder_ / "results.csv";
  write_results(file, fleet, {});
  EXPECT_EQ(
      read(file),
      "name,\"odd,key\",text,status,reason,best_epoch,updates,tokens,seconds,card_seconds,share,folder\r\n"
      "\"a \"\"b\"\", c\",x,\"two\nlines\",queued,,,0,0,0.000,0.000,,\r\n");
}

TEST_F(RunReport, AVariableCannotHideAColumn) {
  const FleetSpec fleet = fleet_of({job_of("glue/CoLA", {{"name", "CoLA"}})});
  const auto file = folder_ / "results.csv";
  write_results(file, fleet, {});
  EXPECT_EQ(read(file),
            "name,variable_name,status,reason,best_epoch,updates,tokens,seconds,card_seconds,share,folder\r\n"
            "glue/CoLA,CoLA,queued,,,0,0,0.000,0.000,,\r\n");
}

TEST_F(RunReport, ResultsAreReplacedWhole) {
  const auto file = folder_ / "results.csv";
  const FleetSpec fleet = fleet_of({job_of("mood", {})});
  write_results(file, fleet, {});
  write_results(file, fleet, {{.job = 0, .status = JobStatus::kStopped}});
  EXPECT_NE(read(file).find("mood,stopped,"), std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "no temporary file stays";
  EXPECT_THROW(write_results(folder_ / "missing" / "results.csv", fleet, {}), Error);
}

TEST(JobStatusName, EveryStatusHasItsOwn) {
  EXPECT_EQ(status_name(JobStatus::kQueued), "queued");
  EXPECT_EQ(status_name(JobStatus::kTraining), "training");
  EXPECT_EQ(status_name(JobStatus::kEvaluating), "evaluating");
  EXPECT_EQ(status_name(JobStatus::kDone), "done");
  EXPECT_EQ(status_name(JobStatus::kFailed), "failed");
  EXPECT_EQ(status_name(JobStatus::kStopped), "stopped");
}

}  // namespace
}  // namespace shoal::engine
