#include "engine/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

double setting(const JobSpec& job, const std::string& name, double unless_given) {
  const auto found = job.lr_scheduler_kwargs.find(name);
  return found == job.lr_scheduler_kwargs.end() ? unless_given : found->second;
}

double wave(double cycles, double progress) {
  return 0.5 * (1 + std::cos(std::numbers::pi * cycles * 2 * progress));
}

double scaled(double factor, double least) {
  return std::max(0.0, factor * (1 - least) + least);
}

// A schedule from the end of its warm-up on.
struct Place {
  double since = 0;     // updates since the warm-up
  double left = 1;      // updates that follow it, in all
  double progress = 0;  // since / left
  double warmup = 0;
  double updates = 0;
};

double warmup_stable_decay(const JobSpec& job, const Place& at) {
  const double least = setting(job, "min_lr_ratio", 0);
  const double decay = setting(job, "num_decay_steps", 0);
  const double stable = setting(job, "num_stable_steps", at.updates - at.warmup - decay);
  if (at.since < stable) return 1;
  if (at.since >= stable + decay) return least;
  return scaled(wave(setting(job, "num_cycles", 0.5), (at.since - stable) / std::max(1.0, decay)), least);
}

double min_lr_rate(const JobSpec& job) {
  const auto min_lr = job.lr_scheduler_kwargs.find("min_lr");
  return min_lr == job.lr_scheduler_kwargs.end() ? setting(job, "min_lr_rate", 0)
                                                 : min_lr->second / job.learning_rate;
}

double polynomial(const JobSpec& job, const Place& at) {
  const double end = setting(job, "lr_end", 1e-7);
  const double decay = std::pow(1 - at.progress, setting(job, "power", 1));
  return ((job.learning_rate - end) * decay + end) / job.learning_rate;
}

double factor_after_warmup(const JobSpec& job, const Place& at) {
  switch (job.lr_scheduler_type) {
    case Scheduler::kLinear:
      return std::max(0.0, (at.left - at.since) / at.left);
    case Scheduler::kCosine:
      return std::max(0.0, wave(setting(job, "num_cycles", 0.5), at.progress));
    case Scheduler::kCosineWithRestarts: {
      const double turns = setting(job, "num_cycles", 1) * at.progress;
      return at.progress >= 1 ? 0 : std::max(0.0, wave(0.5, turns - std::floor(turns)));
    }
    case Scheduler::kCosineWithMinLr:
      return scaled(wave(setting(job, "num_cycles", 0.5), at.progress), min_lr_rate(job));
    case Scheduler::kPolynomial:
      return polynomial(job, at);
    case Scheduler::kInverseSqrt: {
      const double timescale = setting(job, "timescale", at.warmup > 0 ? at.warmup : 10'000);
      return 1 / std::sqrt((at.since + timescale) / timescale);
    }
    case Scheduler::kConstant:
    case Scheduler::kConstantWithWarmup:
      return 1;
    case Scheduler::kWarmupStableDecay:
      return warmup_stable_decay(job, at);
  }
  SHOAL_CHECK(false);
}

}  // namespace

std::int64_t warmup_updates(double warmup_steps, std::int64_t updates) {
  require(warmup_steps >= 0 && warmup_steps < 0x1p53,
          "warmup_steps is {}; allowed: updates, or a share in [0, 1)", warmup_steps);
  return static_cast<std::int64_t>(
      warmup_steps >= 1 ? warmup_steps : std::ceil(static_cast<double>(updates) * warmup_steps));
}

double learning_rate(const JobSpec& job, std::int64_t update, std::int64_t updates) {
  const Scheduler scheduler = job.lr_scheduler_type;
  const std::int64_t warmup = warmup_updates(job.warmup_steps, updates);
  if (update < warmup && scheduler != Scheduler::kConstant) {
    const double factor = static_cast<double>(update) / static_cast<double>(warmup);
    const bool from_least = scheduler == Scheduler::kWarmupStableDecay;
    return job.learning_rate * scaled(factor, from_least ? setting(job, "min_lr_ratio", 0) : 0);
  }
  // The guard is for warm-ups as long as the training: nothing is left to fall over.
  const auto left = static_cast<double>(std::max<std::int64_t>(1, updates - warmup));
  const auto since = static_cast<double>(update - warmup);
  return job.learning_rate * factor_after_warmup(job, {.since = since,
                                                       .left = left,
                                                       .progress = since / left,
                                                       .warmup = static_cast<double>(warmup),
                                                       .updates = static_cast<double>(updates)});
}

}  // namespace shoal::engine
