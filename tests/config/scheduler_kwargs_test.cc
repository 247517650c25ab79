// lr_scheduler_kwargs: each schedule takes its own settings, as transformers does.
#include "tests/config/support.h"

namespace shoal::engine {
namespace {

class SchedulerKwargs : public FleetFileTest {
 protected:
  std::string block(const std::string& type, const std::string& kwargs) const {
    return defaults_ + "[[job]]\nname = 'a'\nlr_scheduler_type = '" + type +
           "'\nlr_scheduler_kwargs = " + kwargs + "\n";
  }
};

TEST_F(SchedulerKwargs, AreTakenBySchedule) {
  const std::pair<const char*, const char*> cases[] = {
      {"cosine", "{ num_cycles = 0.5 }"},
      {"cosine_with_restarts", "{ num_cycles = 3 }"},
      {"cosine_with_min_lr", "{ min_lr = 1e-6, num_cycles = 0.5 }"},
      {"cosine_with_min_lr", "{ min_lr_rate = 0.1 }"},
      {"polynomial", "{ lr_end = 1e-7, power = 2 }"},
      {"inverse_sqrt", "{ timescale = 1000 }"},
      {"warmup_stable_decay",
       "{ num_decay_steps = 10, num_stable_steps = 5, min_lr_ratio = 0.1, num_cycles = 0.5 }"},
      {"warmup_stable_decay", "{ num_decay_steps = 10, warmup_type = 'linear', decay_type = 'cosine' }"},
      {"linear", "{}"},
      {"polynomial", "{}"},
  };
  for (const auto& [type, kwargs] : cases) EXPECT_EQ(refusal(block(type, kwargs)), "") << type << kwargs;
  EXPECT_EQ(parse(block("polynomial", "{ lr_end = 1e-7, power = 2 }")).jobs.at(0).lr_scheduler_kwargs,
            (std::map<std::string, double>{{"lr_end", 1e-7}, {"power", 2}}));
}

TEST_F(SchedulerKwargs, OthersAreRefused) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"linear", "{ num_cycles = 1 }",
       "25: error: lr_scheduler_kwargs.num_cycles does not belong to the job's lr_scheduler_type; allowed: "
       "none"},
      {"cosine", "{ num_cycle = 1 }",
       "25: error: lr_scheduler_kwargs.num_cycle does not belong to the job's lr_scheduler_type; allowed: "
       "num_cycles; did you mean 'num_cycles'?"},
      {"cosine", "{ num_cycles = 0 }",
       "38: error: lr_scheduler_kwargs.num_cycles is 0; allowed: a number > 0"},
      {"cosine", "{ num_cycles = 'x' }",
       "38: error: lr_scheduler_kwargs.num_cycles is 'x'; allowed: a number > 0"},
      {"polynomial", "{ lr_end = 1e-4 }",
       "34: error: lr_scheduler_kwargs.lr_end is 1e-4; allowed: below learning_rate, which is 5e-5"},
      {"warmup_stable_decay", "{ num_decay_steps = 1.5 }",
       "43: error: lr_scheduler_kwargs.num_decay_steps is 1.5; allowed: an integer >= 0"},
      {"warmup_stable_decay", "{ num_stable_steps = 1 }",
       "23: error: lr_scheduler_kwargs of warmup_stable_decay must hold num_decay_steps"},
      {"warmup_stable_decay", "{ num_decay_steps = 1, decay_type = '1-sqrt' }",
       "59: error: lr_scheduler_kwargs.decay_type = '1-sqrt': not yet in this version of shoal; allowed: "
       "cosine"},
      {"cosine_with_min_lr", "{ num_cycles = 1 }",
       "23: error: lr_scheduler_kwargs of cosine_with_min_lr must hold one of min_lr and min_lr_rate"},
      {"cosine_with_min_lr", "{ min_lr = 0, min_lr_rate = 0 }",
       "23: error: lr_scheduler_kwargs of cosine_with_min_lr must hold one of min_lr and min_lr_rate"},
      {"linear", "3", "23: error: lr_scheduler_kwargs is 3; allowed: a table such as { num_cycles = 2 }"},
  };
  for (const auto& [type, kwargs, what] : cases)
    EXPECT_EQ(refusal(block(type, kwargs)), std::string("f.toml:7:") + what) << type << kwargs;
}

TEST_F(SchedulerKwargs, WhatIsNeededIsAskedForAtTheSchedule) {
  EXPECT_EQ(refusal(defaults_ + "lr_scheduler_type = 'cosine_with_min_lr'\n[[job]]\nname = 'a'\n"),
            "f.toml:4:21: error: lr_scheduler_kwargs of cosine_with_min_lr must hold one of min_lr and "
            "min_lr_rate");
}

TEST_F(SchedulerKwargs, AFallGoesDown) {
  const std::string small = "learning_rate = 1e-7\n";
  EXPECT_EQ(refusal(block("polynomial", "{}") + small),
            "f.toml:7:23: error: a polynomial schedule falls to lr_end = 1e-7; allowed: a learning_rate "
            "above it, or "
            "lr_scheduler_kwargs with another lr_end");
  EXPECT_EQ(refusal(block("polynomial", "{ lr_end = 0 }") + small), "");
}

TEST_F(SchedulerKwargs, SchedulesThatAreNotThereAreSaidSo) {
  EXPECT_NE(refusal(defaults_ + "[[job]]\nname = 'a'\nlr_scheduler_type = 'reduce_lr_on_plateau'\n")
                .find("not yet in this version of shoal"),
            std::string::npos);
}

TEST_F(SchedulerKwargs, MayBeSwept) {
  const FleetSpec fleet = parse(defaults_ +
                                "lr_scheduler_type = 'cosine'\n[[job]]\nname = '{trial}'\n"
                                "sweep.lr_scheduler_kwargs = [{ num_cycles = 1 }, { num_cycles = 2 }]\n");
  EXPECT_EQ(fleet.jobs.at(1).lr_scheduler_kwargs.at("num_cycles"), 2);
  EXPECT_EQ(fleet.jobs.at(1).variables.at("lr_scheduler_kwargs"), "num_cycles=2");
}

}  // namespace
}  // namespace shoal::engine
