// The runner and the record of a run, with parts that only pretend: no GPU is needed to fail.
#include "bench/probe/runner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "bench/probe/session.h"

namespace shoal::probe {
namespace {

PartReport run(const PartFunction& part, double slice = 5, double limit = 5) {
  return run_apart(part, slice, limit, "", [](const Measure&) {});
}

TEST(Runner, LinesOfAPartArriveInOrder) {
  const PartReport r = run([](PartContext& c) {
    c.emit(Measure("one", "us", {1, 1, 1, 1}));
    c.emit(Measure("two", "us", {2, 2, 2, 1}).with("text", "a b"));
  });
  EXPECT_EQ(r.outcome, Outcome::kDone);
  ASSERT_EQ(r.lines.size(), 2u);
  EXPECT_EQ(r.lines[0].name, "one");
  EXPECT_EQ(r.lines[1].value.median, 2);
}

TEST(Runner, AFailureKeepsWhatCameBeforeAndSaysWhy) {
  const PartReport r = run([](PartContext& c) {
    c.emit(Measure("one", "us"));
    throw std::runtime_error("cudaMalloc: out\nof memory");
  });
  EXPECT_EQ(r.outcome, Outcome::kFailed);
  EXPECT_EQ(r.reason, "cudaMalloc: out of memory");
  EXPECT_EQ(r.lines.size(), 1u);
}

TEST(Runner, ACrashIsOneFailedPart) {
  const PartReport r = run([](PartContext& c) {
    c.emit(Measure("one", "us"));
    std::signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
  });
  EXPECT_EQ(r.outcome, Outcome::kFailed);
  EXPECT_NE(r.reason.find("killed by"), std::string::npos);
  EXPECT_EQ(r.lines.size(), 1u);
}

TEST(Runner, APartThatWatchesItsSliceStops) {
  const PartReport r = run(
      [](PartContext& c) {
        while (true) {
          c.check_time();
          usleep(1000);
        }
      },
      0.05, 5);
  EXPECT_EQ(r.outcome, Outcome::kStopped);
  EXPECT_LT(r.seconds, 2);
}

TEST(Runner, AHangIsEndedByForce) {
  const PartReport r = run([](PartContext&) { pause(); }, 0.05, 0.2);
  EXPECT_EQ(r.outcome, Outcome::kStopped);
  EXPECT_NE(r.reason.find("force"), std::string::npos);
  EXPECT_LT(r.seconds, 3);
}

TEST(Runner, NoGpuIsAnOutcomeOfItsOwn) {
  EXPECT_EQ(run([](PartContext&) { throw NoGpu("no device"); }).outcome, Outcome::kNoGpu);
}

TEST(Session, NamesTheLinesThatDidNotCome) {
  PlannedPart planned{"p", 1, {{"here", "us", "x"}, {"gone", "us", "x"}, {"hopper", "us", "x", 0, 0, true}}};
  PartReport report;
  report.outcome = Outcome::kDone;
  report.lines.push_back(Measure("here", "us", {1, 1, 1, 1}));
  EXPECT_EQ(Session::missing(planned, report, false), std::vector<std::string>{"gone"});
  EXPECT_EQ(Session::missing(planned, report, true), (std::vector<std::string>{"gone", "hopper"}));
}

TEST(Session, TheRecordHoldsPartsAndLines) {
  Session session;
  PartReport device;
  device.outcome = Outcome::kDone;
  device.lines.push_back(Measure("device", "").with("compute_capability", "8.0"));
  session.add({"device", 1, {}}, device);
  EXPECT_TRUE(session.whole());
  EXPECT_FALSE(session.hopper());
  PartReport broken;
  broken.reason = "why";
  session.add({"launch", 1, {{"edge", "us", "x"}}}, broken);
  EXPECT_FALSE(session.whole());

  const auto j = nlohmann::json::parse(session.json(12));
  EXPECT_EQ(j.at("format"), "shoal-probe-1");
  EXPECT_EQ(j.at("parts").at(1).at("outcome"), "failed");
  EXPECT_EQ(j.at("parts").at(1).at("reason"), "why");
  EXPECT_EQ(j.at("parts").at(1).at("missing").at(0), "edge");
  EXPECT_EQ(j.at("lines").at(0).at("part"), "device");
}

}  // namespace
}  // namespace shoal::probe
