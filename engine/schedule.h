// Learning rate schedules: transformers' formulas, in optimizer updates (never in micro-batches).
//
// With n updates of which w warm up, update u (from 0) is made at factor x learning_rate:
//   linear                 u < w: u/w, else (n-u)/(n-w)
//   cosine                 u < w: u/w, else half a cosine wave, (1 + cos(pi (u-w)/(n-w))) / 2
//   constant_with_warmup   u < w: u/w, else 1
//   constant               1; warm-up is ignored
// As in transformers, the first update of a warm-up is made at rate 0 and changes nothing, and the last
// one is not at 0: ten linear updates run 1.0, 0.9, ... 0.1.
#pragma once

#include <cstdint>

#include "engine/job_spec.h"

namespace shoal::engine {

// warmup_steps >= 1: so many updates, fractions cut off; in [0, 1): that share of all updates, rounded up.
std::int64_t warmup_updates(double warmup_steps, std::int64_t updates);

double learning_rate_factor(Scheduler scheduler, std::int64_t update, std::int64_t warmup,
                            std::int64_t updates);

// learning_rate x factor of a job that makes `updates` in all.
double learning_rate(const JobSpec& job, std::int64_t update, std::int64_t updates);

}  // namespace shoal::engine
