// The program from outside: exit codes, what goes to which stream, and that a refusal leaves nothing behind.
#include "tests/cli/program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

namespace shoal::cli {
namespace {

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("shoal_cli_" + std::to_string(::getpid()) + "_" + info->name());
    std::filesystem::create_directories(folder_);
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\na\nday\n");
    std::string rows = "text\tlabel\n";
    for (int i = 0; i < 8; ++i) rows += "a good day\tgood\na bad day\tbad\n";
    write("train.tsv", rows);
  }
  ~ProgramTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  Outcome run(std::vector<std::string> arguments) const { return run_program(folder_, std::move(arguments)); }

  std::filesystem::path folder_;
  // One thread: the tests share their cores, and results do not depend on it.
  const std::string defaults_ =
      "[fleet]\n"
      "threads = 1\n"
      "[defaults]\n"
      "model = { preset = \"bert-tiny\", vocab = \"vocab.txt\" }\n"
      "train_file = \"train.tsv\"\n"
      "validation_file = \"train.tsv\"\n"
      "max_steps = 4\n";
};

TEST_F(ProgramTest, UsageIsTwo) {
  const std::vector<std::string> cases[] = {{},
                                            {"tarin"},
                                            {"train"},
                                            {"train", "f.toml", "--progress", "fast"},
                                            {"train", "f.toml", "--none"},
                                            {"predict", "model"},
                                            {"help", "learning_rat"},
                                            {"train", "f.toml", "--set", "seed=1"}};
  write("f.toml", defaults_ + "[[job]]\nname = 'a'\n");
  for (const auto& arguments : cases) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << (arguments.empty() ? "" : arguments.front());
    EXPECT_NE(outcome.err, "");
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(ProgramTest, AsksForHelpAreZero) {
  EXPECT_EQ(run({"--version"}).out.find("shoal "), 0u);
  for (const char* argument : {"--version", "--help", "doctor", "help"}) {
    const Outcome outcome = run({argument});
    EXPECT_EQ(outcome.code, 0) << argument << outcome.err;
    EXPECT_NE(outcome.out, "") << argument;
    EXPECT_EQ(outcome.err, "") << argument;
  }
  EXPECT_NE(run({"--version"}).out.find("(commit "), std::string::npos);
  EXPECT_NE(run({"help", "learning_rate"}).out.find("5e-5"), std::string::npos);
}

TEST_F(ProgramTest, ARefusedFleetIsOneAndLeavesNothing) {
  write("f.toml", defaults_ + "learning_rate = -1\n[[job]]\nname = 'a'\ntrain_file = 'no.tsv'\n");
  const Outcome outcome = run({"train", "f.toml"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "f.toml:8:17: error: learning_rate is -1; allowed: a number > 0\n"
            "f.toml:11:14: error: train_file: no file 'no.tsv'\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));
  EXPECT_EQ(run({"train", "none.toml"}).err, "none.toml: error: cannot be opened\n");
}

TEST_F(ProgramTest, CheckListsTheJobs) {
  write("f.toml", defaults_ + "[[job]]\nname = 's{seed}'\nsweep.seed = [1, 2]\n");
  const Outcome outcome = run({"check", "f.toml", "--jobs"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("s1  seed=1\ns2  seed=2\n2 jobs, 2 slots, 1 group: "), 0u) << outcome.out;
  EXPECT_NE(outcome.out.find("checked 1 data set: 16 rows"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nf.toml: 2 jobs, no mistakes\n"), std::string::npos) << outcome.out;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));
  EXPECT_EQ(run({"check", "f.toml", "--quick"}).out,
            "f.toml: 2 jobs, no mistakes; rows, labels and weights were not read\n");
  write("dev.tsv", "text\tlabel\na day\tugly\n");
  write("g.toml", defaults_ + "[[job]]\nname = 'a'\nvalidation_file = 'dev.tsv'\n");
  const Outcome refused = run({"check", "g.toml"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.err.find("dev.tsv:2: error: "), 0u) << refused.err;
}

// What init writes is a fleet file that check accepts.
TEST_F(ProgramTest, InitIsAFleetFile) {
  const Outcome outcome = run({"init", "train.tsv", "--model", "base", "-o", "made.toml"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  write("f.toml", defaults_ + "[[job]]\nname = 'a'\n");
  ASSERT_EQ(run({"train", "f.toml", "--progress", "none"}).code, 0);
  std::filesystem::rename(folder_ / "runs/f/a", folder_ / "base");
  const Outcome check = run({"check", "made.toml", "--jobs"});
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_NE(check.out.find("lr2e-5-s1"), std::string::npos) << check.out;
  EXPECT_EQ(run({"init", "train.tsv", "-o", "made.toml"}).err,
            "made.toml: error: exists already; it is not overwritten\n");
  EXPECT_EQ(run({"init", "none.tsv"}).code, 2);
}

TEST_F(ProgramTest, TrainPredictEval) {
  write("f.toml", defaults_ + "[[job]]\nname = 'a'\n");
  const Outcome outcome = run({"train", "f.toml"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\njob  "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("runs/f/a\n"), std::string::npos) << outcome.out;

  const Outcome prediction = run({"predict", "runs/f/a", "--text", "a good day", "--threads", "1"});
  EXPECT_EQ(prediction.code, 0) << prediction.err;
  EXPECT_NE(prediction.out.find("good 0."), std::string::npos) << prediction.out;
  EXPECT_NE(prediction.out.find("bad 0."), std::string::npos) << prediction.out;
  const Outcome of_file = run({"predict", "runs/f/a", "train.tsv", "--json", "--threads", "1"});
  EXPECT_EQ(std::count(of_file.out.begin(), of_file.out.end(), '\n'), 16) << of_file.err;

  const Outcome evaluation = run({"eval", "runs/f/a", "train.tsv", "--threads", "1"});
  EXPECT_EQ(evaluation.code, 0) << evaluation.err;
  EXPECT_NE(evaluation.out.find("accuracy"), std::string::npos) << evaluation.out;

  const Outcome again = run({"train", "f.toml"});
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.err.find("--overwrite"), std::string::npos) << again.err;
  EXPECT_EQ(run({"train", "f.toml", "--overwrite", "--progress", "none"}).code, 0);
}

TEST_F(ProgramTest, SeveralModelsAnswerAsEachAlone) {
  write("f.toml", defaults_ + "test_file = 'train.tsv'\n[[job]]\nname = 's{seed}'\nsweep.seed = [1, 2]\n");
  ASSERT_EQ(run({"train", "f.toml", "--progress", "none"}).code, 0);
  const auto answer = [&](std::vector<std::string> models, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"predict"};
    arguments.insert(arguments.end(), models.begin(), models.end());
    arguments.insert(arguments.end(), {"--text", "a good day", "--threads", "1"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  const std::string one = answer({"runs/f/s1"}, {}), two = answer({"runs/f/s2"}, {});
  EXPECT_NE(one, two);
  EXPECT_EQ(answer({"runs/f/s1", "runs/f/s2"}, {}),
            "runs/f/s1\truns/f/s2\n" + one.substr(0, one.size() - 1) + "\t" + two);
  EXPECT_EQ(answer({"runs/f/s1", "runs/f/s1"}, {"--average"}), one);
  EXPECT_NE(answer({"runs/f/s1", "runs/f/s2"}, {"--json"}).find("{\"models\":{\"runs/f/s1\":{\"label\":"),
            std::string::npos);
  EXPECT_EQ(run({"predict", "runs/f/no", "--text", "a"}).code, 1);
  EXPECT_EQ(run({"predict", "--text", "a"}).code, 2);

  const Outcome status = run({"status", "runs/f"});
  EXPECT_EQ(status.code, 0) << status.err;
  EXPECT_EQ(status.out.find("s1  done  4 updates  "), 0u) << status.out;
  EXPECT_NE(status.out.find("2 jobs, 2 done; the run has ended\n"), std::string::npos) << status.out;
  EXPECT_EQ(run({"status", "."}).err, ".: error: not the folder of a run (no fleet.jsonl)\n");

  const Outcome comparison = run({"compare", "runs/f", "s1", "s1"});
  EXPECT_EQ(comparison.code, 0) << comparison.err;
  EXPECT_EQ(comparison.out.find("16 rows; accuracy: s1 "), 0u) << comparison.out;
  EXPECT_NE(comparison.out.find("p = 1.0000"), std::string::npos) << comparison.out;
  EXPECT_EQ(run({"compare", "runs/f", "s1", "s3"}).err, "runs/f/s3: error: no such job in the run\n");
}

TEST_F(ProgramTest, ShardsShareTheJobs) {
  write("f.toml", defaults_ + "[[job]]\nname = 's{seed}'\nsweep.seed = [1, 2, 3]\n");
  EXPECT_EQ(run({"train", "f.toml", "--shard", "1/2", "--progress", "none"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "runs/f/shard-1-of-2/s2/model.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs/f/shard-1-of-2/s1"));
  for (const char* wrong : {"2/2", "1", "1/0", "a/2", "-1/2", "/2"})
    EXPECT_EQ(run({"train", "f.toml", "--shard", wrong}).code, 2) << wrong;
  EXPECT_EQ(run({"train", "f.toml", "--shard", "3/4"}).code, 1);
}

TEST_F(ProgramTest, ResumeTrainsWhatIsNew) {
  write("f.toml", defaults_ + "[[job]]\nname = 's{seed}'\nsweep.seed = [1]\n");
  ASSERT_EQ(run({"train", "f.toml", "--progress", "none"}).code, 0);
  const auto before = std::filesystem::last_write_time(folder_ / "runs/f/s1/model.safetensors");
  write("f.toml", defaults_ + "[[job]]\nname = 's{seed}'\nsweep.seed = [1, 2]\n");
  EXPECT_EQ(run({"train", "f.toml"}).code, 1);
  const Outcome outcome = run({"train", "f.toml", "--resume"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(std::filesystem::last_write_time(folder_ / "runs/f/s1/model.safetensors"), before);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "runs/f/s2/model.safetensors"));
  write("f.toml", defaults_ + "weight_decay = 0.5\n[[job]]\nname = 's{seed}'\nsweep.seed = [1, 2]\n");
  const Outcome changed = run({"train", "f.toml", "--resume"});
  EXPECT_EQ(changed.code, 1);
  EXPECT_NE(changed.err.find("weight_decay"), std::string::npos) << changed.err;
}

TEST_F(ProgramTest, AFailedJobIsThree) {
  write("f.toml", defaults_ + "[[job]]\nname = 'a'\n[[job]]\nname = 'wild'\nlearning_rate = 1e30\n");
  const Outcome outcome = run({"train", "f.toml"});
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_NE(outcome.out.find("failed: "), std::string::npos) << outcome.out;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "runs/f/a/model.safetensors"));
}

TEST_F(ProgramTest, ASignalIsFour) {
  write("f.toml", defaults_ + "[[job]]\nname = 'a'\nmax_steps = 100000000\neval_strategy = 'no'\n");
  Program program(folder_, {"train", "f.toml", "--progress", "json"});
  // Trains by now, or never will.
  for (int i = 0; i < 600 && program.out_so_far().find("\"progress\"") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  program.signal(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.code, 4) << outcome.err;
  EXPECT_NE(outcome.out.find("\"status\":\"stopped\""), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace shoal::cli
