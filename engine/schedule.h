// Learning rate schedules: transformers' formulas, in optimizer updates (never in micro-batches).
//
// With n updates of which w warm up, update u (from 0) is made at factor x learning_rate. Before u = w the
// factor is u/w (constant has no warm-up); from there on, with t = (u-w)/(n-w), the part that has gone by:
//   linear                 1 - t
//   cosine                 (1 + cos(2 pi c t)) / 2, c = num_cycles = 1/2
//   cosine_with_restarts   (1 + cos(pi frac(c t))) / 2, c = num_cycles = 1
//   cosine_with_min_lr     cosine, scaled into [r, 1]; r = min_lr_rate, or min_lr / learning_rate
//   polynomial             (1 - t)^power, scaled into [e, 1]; power = 1, e = lr_end / learning_rate,
//                          lr_end = 1e-7
//   inverse_sqrt           1 / sqrt(1 + (u-w)/timescale), timescale = w, or 10000 where w is 0
//   constant               1, as is constant_with_warmup
//   warmup_stable_decay    1 for num_stable_steps, then for num_decay_steps cosine, scaled into
//                          [min_lr_ratio, 1], then min_lr_ratio = 0; the warm-up too climbs from there.
//                          num_stable_steps: what warm-up and decay leave of n
// lr_scheduler_kwargs overrule what stands after "=". As in transformers, the first update of a warm-up is
// made at rate 0 and changes nothing, and the last one is not at 0: ten linear updates run 1.0, 0.9, ... 0.1.
#pragma once

#include <cstdint>

#include "engine/job_spec.h"

namespace shoal::engine {

// warmup_steps >= 1: so many updates, fractions cut off; in [0, 1): that share of all updates, rounded up.
std::int64_t warmup_updates(double warmup_steps, std::int64_t updates);

// learning_rate x factor of a job that makes `updates` in all.
double learning_rate(const JobSpec& job, std::int64_t update, std::int64_t updates);

}  // namespace shoal::engine
