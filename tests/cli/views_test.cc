// What a run looks like, word for word, with a clock and a screen of our own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/json_view.h"
#include "cli/live_view.h"
#include "cli/plain_view.h"
#include "cli/plan_lines.h"
#include "cli/result_table.h"

namespace shoal::cli {
namespace {

using engine::JobStatus;

class Views : public testing::Test {
 protected:
  Views() {
    for (const char* name : {"mood", "topic"}) {
      engine::JobSpec job;
      job.name = name;
      job.validation_file = "dev.tsv";
      fleet_.jobs.push_back(job);
    }
    plan_ = {.device = "2 cores",
             .jobs = 2,
             .slots = 2,
             .groups = {{.model = "BERT 2 layers x 128, vocabulary 2,048, random weights",
                         .jobs = 2,
                         .slots = 2,
                         .bytes = 41'000'000}},
             .data_sets = 2,
             .rows = 12000,
             .tokens = 157200,
             .truncated = 3,
             .unknown = 15,
             .pieces = 150000};
  }

  // The same run through any view.
  void play(engine::Observer& view) {
    view.on_plan(plan_);
    view.on_note(0, "classifier: initialised");
    view.on_note(-1, "warning: so");
    view.on_job_start(0, 0);
    view.on_job_start(1, 1);
    now_ = 10;
    view.on_progress(
        {.job = 0, .update = 40, .updates = 80, .epoch = 2, .loss = 0.5, .tokens = 5000, .seconds = 10});
    view.on_progress(
        {.job = 1, .update = 20, .updates = 80, .epoch = 1, .loss = 0.75, .tokens = 5000, .seconds = 10});
    view.on_evaluation(0, 2, 40, {{"loss", 0.4}, {"accuracy", 0.9125}, {"f1", 0.9}});
    now_ = 39.5;
    view.on_tick();
    now_ = 40;
    view.on_tick();
    view.on_job_end({.job = 0,
                     .status = JobStatus::kDone,
                     .best = {{"loss", 0.3}, {"accuracy", 0.95}},
                     .best_epoch = 2,
                     .updates = 80,
                     .seconds = 40,
                     .folder = "runs/f/mood"});
    view.on_job_end(
        {.job = 1, .status = JobStatus::kFailed, .reason = "loss is not finite at update 21", .updates = 20});
  }

  Clock clock() {
    return [this] { return now_; };
  }
  LineSink sink() {
    return [this](const std::string& line) { text_ += line + "\n"; };
  }
  LiveView::Screen screen(TerminalSize size, bool color = false) {
    return {.write = [this](const std::string& text) { text_ += text; },
            .size = [size] { return size; },
            .color = color};
  }

  engine::FleetSpec fleet_;
  engine::FleetPlan plan_;
  double now_ = 0;
  std::string text_;
};

TEST_F(Views, Plain) {
  PlainView view(fleet_, sink(), clock());
  play(view);
  EXPECT_EQ(text_,
            "2 jobs, 2 slots, 1 group: BERT 2 layers x 128, vocabulary 2,048, random weights; 41 MB\n"
            "checked 2 data sets: 12,000 rows, mean 13.1 tokens, 3 truncated, 0.01 % [UNK], labels agree in "
            "train and dev\n"
            "note: mood: classifier: initialised\n"
            "warning: so\n"
            "   0:00  mood   started in slot 0\n"
            "   0:00  topic  started in slot 1\n"
            "   0:10  mood   epoch 2  update 40/80  loss 0.400  accuracy 0.912\n"
            "   0:40  done 0, training 2, queued 0, failed 0; 250 tokens/s; 1:07 left\n"
            "   0:40  mood   done: accuracy 0.950 at epoch 2, 80 updates\n"
            "   0:40  topic  failed: loss is not finite at update 21\n");
}

TEST_F(Views, TheHeartbeatComesAfterThirtySilentSeconds) {
  PlainView view(fleet_, sink(), clock());
  for (now_ = 0; now_ < 100; now_ += 1) view.on_tick();
  EXPECT_EQ(std::count(text_.begin(), text_.end(), '\n'), 3) << text_;
}

TEST_F(Views, PlanOfSeveralGroups) {
  plan_.groups.push_back({.model = "BERT 6 layers x 384", .jobs = 1, .slots = 1, .bytes = 1'500'000'000});
  const std::vector<std::string> lines = plan_lines(plan_, fleet_);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "2 jobs, 2 slots, 2 groups:");
  EXPECT_EQ(lines[2], "  1 job, 1 slot: BERT 6 layers x 384; 1.5 GB");
}

TEST_F(Views, PlanWithoutValidationDoesNotSpeakOfDev) {
  for (engine::JobSpec& job : fleet_.jobs) job.validation_file.clear();
  EXPECT_EQ(plan_lines(plan_, fleet_).back().find("dev"), std::string::npos);
}

TEST_F(Views, LiveShowsALineASlotAndOneForTheFleet) {
  {
    LiveView view(fleet_, screen({.columns = 100, .rows = 24}), clock());
    view.on_plan(plan_);
    view.on_job_start(0, 0);
    view.on_job_start(1, 1);
    now_ = 10;
    view.on_evaluation(0, 2, 40, {{"loss", 0.4}, {"accuracy", 0.9125}});
    view.on_progress({.job = 1, .update = 20, .updates = 80, .loss = 0.75, .tokens = 5000, .seconds = 10});
    text_.clear();
    now_ = 11;
    view.on_progress({.job = 0, .update = 40, .updates = 80, .loss = 0.5, .tokens = 5000, .seconds = 11});
    EXPECT_EQ(text_,
              "\x1b[3A"
              "\r  mood   ━━━━━━━━━━──────────  50 %  loss 0.500  accuracy 0.912  0:11 left\x1b[K\n"
              "\r  topic  ━━━━━───────────────  25 %  loss 0.750  0:30 left\x1b[K\n"
              "\r0:11  done 0, training 2, queued 0, failed 0; 909 tokens/s; 0:18 left\x1b[K\n"
              "\x1b[J");
    // A finished job scrolls up, above what is drawn over.
    text_.clear();
    now_ = 12;
    view.on_job_end({.job = 0, .status = JobStatus::kDone, .best = {{"accuracy", 0.95}}});
    EXPECT_EQ(text_.find("\x1b[3A\r  mood   ━━━━━━━━━━━━━━━━━━━━ 100 %  loss 0.500  accuracy 0.950  "
                         "done\x1b[K\n\r  topic"),
              0u)
        << text_;
  }
}

TEST_F(Views, LiveRedrawsAtMostTenTimesASecond) {
  LiveView view(fleet_, screen({}), clock());
  view.on_plan(plan_);
  view.on_job_start(0, 0);
  text_.clear();
  for (int i = 0; i < 1000; ++i) {
    now_ = i * 0.001;
    view.on_progress({.job = 0, .update = i, .updates = 1000});
  }
  std::size_t draws = 0;
  for (std::size_t at = 0; (at = text_.find("\x1b[J", at)) != std::string::npos; ++at) ++draws;
  EXPECT_LE(draws, 10u);
  EXPECT_GE(draws, 5u);
}

TEST_F(Views, LiveStaysWithinTheTerminal) {
  fleet_.jobs.clear();
  for (int i = 0; i < 50; ++i) {
    engine::JobSpec job;
    job.name = fmt::format("job{}", i);
    fleet_.jobs.push_back(job);
  }
  LiveView view(fleet_, screen({.columns = 40, .rows = 10}), clock());
  for (int i = 0; i < 50; ++i) {
    now_ = i;
    text_.clear();
    view.on_job_start(i, i);
    view.on_progress({.job = i, .update = 1, .updates = 1000, .loss = 0.5, .seconds = 1e6});
  }
  EXPECT_EQ(std::count(text_.begin(), text_.end(), '\n'), 7) << text_;  // 10 - 4 for jobs, 1 for the fleet
  EXPECT_NE(text_.find("... and 45 more jobs in slots"), std::string::npos) << text_;
  for (std::size_t start = text_.find('\r'); start != std::string::npos;
       start = text_.find('\r', start + 1)) {
    EXPECT_LE(text_width(text_.substr(start + 1, text_.find("\x1b[K", start) - start - 1)), 39);
  }
}

TEST_F(Views, LiveDrawsNothingForAFleetThatIsRefused) {
  { LiveView view(fleet_, screen({}), clock()); }
  EXPECT_EQ(text_, "");
}

TEST_F(Views, JsonIsALineAnEvent) {
  JsonView view(fleet_, sink(), clock());
  play(view);
  const std::string start =
      R"({"event":"plan","jobs":2,"slots":2,"device":"2 cores","groups":[{"model":"BERT 2 layers x 128, vocabulary 2,048, random weights","jobs":2,"slots":2,"bytes":41000000}],"data_sets":2,"rows":12000,"tokens":157200,"truncated":3,"unknown":15}
{"event":"note","job":"mood","text":"classifier: initialised"}
{"event":"note","text":"warning: so"}
{"event":"start","job":"mood","slot":0}
)";
  EXPECT_EQ(text_.substr(0, start.size()), start);
  EXPECT_NE(
      text_.find(
          R"({"event":"evaluation","job":"mood","epoch":2.0,"update":40,"metrics":{"loss":0.4,"accuracy":0.9125,"f1":0.9}})"),
      std::string::npos)
      << text_;
  EXPECT_NE(text_.find(R"("status":"failed","reason":"loss is not finite at update 21")"), std::string::npos)
      << text_;
}

TEST_F(Views, Table) {
  const std::vector<engine::JobResult> results = {
      {.job = 0,
       .status = JobStatus::kDone,
       .best = {{"loss", 0.3}, {"accuracy", 0.981}},
       .best_epoch = 4,
       .updates = 1470,
       .seconds = 43,
       .folder = "runs/demo/mood"},
      {.job = 1, .status = JobStatus::kFailed, .reason = "no memory", .updates = 0}};
  EXPECT_EQ(result_table(fleet_, results), (std::vector<std::string>{
                                               "job    accuracy  best at  updates  time  folder",
                                               "mood      0.981  epoch 4    1,470  0:43  runs/demo/mood",
                                               "topic         -        -        0  0:00  failed: no memory",
                                           }));
}

TEST_F(Views, TableOfSeveralMetrics) {
  fleet_.jobs[1].metric_for_best_model = "matthews_correlation";
  const std::vector<engine::JobResult> results = {
      {.job = 0, .best = {{"loss", 0.3}, {"accuracy", 0.981}}, .best_epoch = 4},
      {.job = 1, .best = {{"accuracy", 0.9}, {"matthews_correlation", 0.5}}, .best_epoch = 1.5}};
  const std::vector<std::string> lines = result_table(fleet_, results);
  EXPECT_EQ(lines[0].find("job                          best    best at"), 0u) << lines[0];
  EXPECT_EQ(lines[2].find("topic  matthews_correlation 0.500  epoch 1.5"), 0u) << lines[2];
}

}  // namespace
}  // namespace shoal::cli
