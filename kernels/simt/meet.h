// Where threads wait for each other. Inline throughout: see fiber.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/base/error.h"
#include "kernels/simt/run.h"

namespace shoal::simt {

inline bool same(const Site& a, const Site& b) {
  static_assert(sizeof(Site) == sizeof(void*));  // of a constant, nearly always the same one
  if (std::bit_cast<const void*>(a) == std::bit_cast<const void*>(b)) return true;
  return a.line() == b.line() && a.column() == b.column() && std::strcmp(a.file_name(), b.file_name()) == 0;
}

inline __attribute__((always_inline)) void wait_here(Thread::Doing doing, Site site) {
  self->doing = doing;
  self->site = site;
  Fiber::yield();
}

// The running thread waits for the lanes of mask that have not come yet; the last one runs compute on what
// all of them gave, in the order of lanes, null for lanes not in mask.
inline __attribute__((always_inline)) void meet(const char* what, std::uint32_t mask, Site site, void* args,
                                                void (*compute)(void* const (&args)[kWarpLanes],
                                                                std::uint32_t mask)) {
  Warp& w = run->warps[static_cast<std::size_t>(self->warp)];
  const std::uint32_t own = 1u << self->lane;
  if ((mask & own) == 0) {
    fault("{} is not in the mask {:#x} of its {} at {}", *self, mask, what, site);
  }
  auto m =
      std::find_if(w.meetings.begin(), w.meetings.end(), [&](const Meeting& x) { return x.mask == mask; });
  if (m == w.meetings.end())
    m = std::find_if(w.meetings.begin(), w.meetings.end(), [](auto& x) { return x.mask == 0; });
  if (m == w.meetings.end()) m = w.meetings.insert(m, Meeting{});
  if (m->mask == 0) {
    m->what = what;
    m->site = site;
    m->mask = mask;
    m->arrived = 0;
    std::fill(std::begin(m->args), std::end(m->args), nullptr);
  } else if (!same(m->site, site)) {
    fault("divergent collective: {} is in {} at {}, others of its warp in {} at {}", *self, what, site,
          m->what, m->site);
  }
  m->args[self->lane] = args;
  m->arrived |= own;
  if (m->arrived != mask) {
    wait_here(Thread::Doing::kInCollective, site);
    return;
  }
  compute(m->args, mask);
  m->mask = 0;
  for (std::uint32_t left = mask & ~own; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    run->threads[static_cast<std::size_t>(self->warp * kWarpLanes + lane)].doing = Thread::Doing::kReady;
  }
  w.ready |= mask & ~own;
}

}  // namespace shoal::simt
