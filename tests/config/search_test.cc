// search: what is drawn, and on what a draw depends.
#include <cmath>
#include <set>

#include "tests/config/support.h"

namespace shoal::engine {
namespace {

class Search : public FleetFileTest {
 protected:
  FleetSpec draw(const std::string& sweep, int n_trials, const std::string& search = "") const {
    return parse(block(sweep, "{ n_trials = " + std::to_string(n_trials) + search + " }"));
  }
  std::string block(const std::string& sweep, const std::string& search) const {
    return defaults_ + "[[job]]\nname = 't{trial:03}'\nsearch = " + search + "\n" + sweep + "\n";
  }
  static std::vector<std::string> values(const FleetSpec& fleet, const std::string& key) {
    std::vector<std::string> out;
    for (const JobSpec& job : fleet.jobs) out.push_back(job.variables.at(key));
    return out;
  }
};

TEST_F(Search, DrawsSoManyPointsAndNoGrid) {
  const FleetSpec fleet = draw("sweep.learning_rate = [1e-5, 2e-5]\nsweep.seed = [1, 2, 3]", 5);
  EXPECT_EQ(names(fleet), (std::vector<std::string>{"t000", "t001", "t002", "t003", "t004"}));
  EXPECT_EQ(values(fleet, "trial"), (std::vector<std::string>{"0", "1", "2", "3", "4"}));
}

TEST_F(Search, RangesAreObeyedAndFilled) {
  const FleetSpec fleet = draw(
      "sweep.learning_rate = { loguniform = [1e-6, 1e-4] }\nsweep.warmup_steps = { uniform = [0.0, 0.2] }\n"
      "sweep.per_device_train_batch_size = { quniform = [10, 60, 8] }\nsweep.seed = { randint = [-0, 3] }\n"
      "sweep.weight_decay = { quniform = [0.0, 0.3, 0.1] }\nsweep.data_seed = { choice = [5, 7] }",
      2000);
  double log_sum = 0;
  double sum = 0;
  std::set<std::int64_t> batches;
  std::set<std::uint64_t> seeds;
  std::set<std::string> decays;
  for (const JobSpec& job : fleet.jobs) {
    EXPECT_TRUE(job.learning_rate >= 1e-6 && job.learning_rate < 1e-4) << job.learning_rate;
    EXPECT_TRUE(job.warmup_steps >= 0 && job.warmup_steps < 0.2) << job.warmup_steps;
    log_sum += std::log10(job.learning_rate);
    sum += job.warmup_steps;
    batches.insert(job.per_device_train_batch_size);
    seeds.insert(job.seed);
    decays.insert(job.variables.at("weight_decay"));
    EXPECT_TRUE(job.data_seed == 5u || job.data_seed == 7u);
  }
  // Means of 2000 draws: the standard error is width / sqrt(12 x 2000); five of them are allowed.
  EXPECT_NEAR(log_sum / 2000, -5, 5 * 2 / std::sqrt(24000.0));
  EXPECT_NEAR(sum / 2000, 0.1, 5 * 0.2 / std::sqrt(24000.0));
  EXPECT_EQ(batches, (std::set<std::int64_t>{16, 24, 32, 40, 48, 56}));
  EXPECT_EQ(seeds, (std::set<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(decays, (std::set<std::string>{"0.0", "0.1", "0.2", "0.3"}));
}

TEST_F(Search, ADrawDependsOnSeedTrialAndKeyAlone) {
  const std::string rate = "sweep.learning_rate = { loguniform = [1e-6, 1e-4] }";
  const auto few = values(draw(rate, 3), "learning_rate");
  auto many = values(draw("sweep.seed = { randint = [0, 9] }\n" + rate + "\nsweep.weight_decay = [0, 1]", 9),
                     "learning_rate");
  many.resize(3);
  EXPECT_EQ(few, many);
  EXPECT_NE(few, values(draw(rate, 3, ", seed = 1"), "learning_rate"));
  EXPECT_EQ(few, values(draw(rate, 3, ", seed = 0, scheduler = 'fifo'"), "learning_rate"));
  // Two keys of one range are not the same numbers.
  const FleetSpec two =
      draw("sweep.adam_beta1 = { uniform = [0, 1] }\nsweep.adam_beta2 = { uniform = [0, 1] }", 3);
  EXPECT_NE(values(two, "adam_beta1"), values(two, "adam_beta2"));
  // Written down, so that a run can be repeated by a later version.
  EXPECT_EQ(few, (std::vector<std::string>{"3.10111e-6", "6.74006e-6", "8.98533e-6"}));
}

TEST_F(Search, ATrialIsTheSamePointForEveryValueAndFold) {
  const FleetSpec fleet = parse(defaults_ + R"([[job]]
name = "{column}-{trial}-{fold}"
each.column = ["a", "b"]
text = "{column}"
sweep.learning_rate = { loguniform = [1e-6, 1e-4] }
search = { n_trials = 3 }
folds = 2
)");
  ASSERT_EQ(fleet.jobs.size(), 12u);
  EXPECT_EQ(fleet.jobs[3].name, "a-1-1");
  EXPECT_EQ(fleet.jobs[8].name, "b-1-0");
  EXPECT_EQ(fleet.jobs[3].learning_rate, fleet.jobs[8].learning_rate);
  EXPECT_NE(fleet.jobs[3].learning_rate, fleet.jobs[5].learning_rate);
}

TEST_F(Search, Mistakes) {
  const std::string rate = "sweep.learning_rate = [1e-5]";
  const std::pair<const char*, const char*> cases[] = {
      {"{ n_trials = 0 }", "6:23: error: search.n_trials is 0; allowed: an integer >= 1"},
      {"{ seed = 1 }", "6:1: error: search has no n_trials, the number of points to draw"},
      {"{ n_trials = 2, seed = -1 }", "6:33: error: search.seed is -1; allowed: an integer >= 0"},
      {"{ n_trials = 2, trials = 3 }",
       "6:26: error: unknown key 'trials' in search; allowed: n_trials, seed, scheduler, grace_period, "
       "reduction_factor; did you mean 'n_trials'?"},
      {"{ n_trials = 2, scheduler = 'pbt' }",
       "6:38: error: search.scheduler is 'pbt'; allowed: random, fifo, asha"},
      {"{ n_trials = 2, scheduler = 'asha' }",
       "6:38: error: search.scheduler = \"asha\": not yet in this version of shoal; without it every trial "
       "trains to its end"},
      {"{ n_trials = 2, grace_period = 1 }", "6:41: error: search.grace_period needs scheduler = \"asha\""},
      {"3", "6:10: error: search is 3; allowed: a table such as { n_trials = 64, seed = 0 }"},
      {"{ n_trials = 100001 }", "4:1: error: more than 100000 jobs in all with this [[job]]"},
  };
  for (const auto& [search, what] : cases)
    EXPECT_EQ(refusal(block(rate, search)), std::string("f.toml:") + what) << search;
  EXPECT_EQ(refusal(block("", "{ n_trials = 2 }")),
            "f.toml:6:1: error: search has nothing to draw: the [[job]] has no sweep");
  // Of asha's own settings, both mistakes at once with the refusal.
  EXPECT_EQ(
      refusal(block(rate, "{ n_trials = 2, scheduler = 'asha', grace_period = 0, reduction_factor = 1 }")),
      "f.toml:6:38: error: search.scheduler = \"asha\": not yet in this version of shoal; without it every "
      "trial trains to its end\n"
      "f.toml:6:61: error: search.grace_period is 0; allowed: an integer >= 1\n"
      "f.toml:6:83: error: search.reduction_factor is 1; allowed: an integer >= 2");
}

TEST_F(Search, MistakesInRanges) {
  const std::pair<const char*, const char*> cases[] = {
      {"{ uniform = [1, 1] }", "sweep.weight_decay.uniform is not of the form [a, b], numbers with a < b"},
      {"{ uniform = [1] }", "sweep.weight_decay.uniform is not of the form [a, b], numbers with a < b"},
      {"{ uniform = ['a', 'b'] }",
       "sweep.weight_decay.uniform is not of the form [a, b], numbers with a < b"},
      {"{ loguniform = [0, 1] }",
       "sweep.weight_decay.loguniform is not of the form [a, b], numbers with 0 < a < b"},
      {"{ randint = [0, 1.5] }",
       "sweep.weight_decay.randint is not of the form [a, b], integers with a < b; b itself is not drawn"},
      {"{ quniform = [1, 2, 5] }",
       "sweep.weight_decay.quniform is not of the form [a, b, q], numbers with a < b, q > 0 and a multiple "
       "of q "
       "between a and b"},
      {"{ unifrom = [0, 1] }",
       "sweep.weight_decay: unknown range 'unifrom'; allowed: choice, uniform, loguniform, quniform, "
       "randint; did "
       "you mean 'uniform'?"},
      {"{ uniform = [0, 1], choice = [1] }", "sweep.weight_decay is a table of 2 keys; allowed: one"},
      {"{ choice = [] }", "sweep.weight_decay.choice is an empty list, so there would be no job"},
  };
  for (const auto& [range, what] : cases) {
    EXPECT_EQ(refusal(block("sweep.weight_decay = " + std::string(range), "{ n_trials = 2 }")),
              std::string("f.toml:7:22: error: ") + what);
  }
}

}  // namespace
}  // namespace shoal::engine
