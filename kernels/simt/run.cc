// Runs a grid: blocks in turn, the threads of a block as fibers. A fiber runs until it waits; which warp goes
// on, and in which order its lanes do, is drawn from the seed.
#include "kernels/simt/run.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/base/error.h"
#include "kernels/simt/meet.h"
#include "kernels/simt/shared.h"

namespace shoal::simt {

constinit thread_local Run* run = nullptr;
constinit thread_local Thread* self = nullptr;

namespace {

// What outlives a launch: stacks are made once, and grow in number only.
struct Pool {
  Stacks stacks{kMaxThreads};
  std::vector<Thread> threads;
  void (*body)(const char* args) = nullptr;
};

Pool& pool() {
  static thread_local Pool all;
  return all;
}

void thread_main() {
  pool().body(run->grid.args);
  if (!self->copies.empty()) {
    fault("{} ends with {} cp.async in flight", *self, self->copies.size());
  }
  self->doing = Thread::Doing::kEnded;
  --run->alive;
}

void begin_block(std::uint32_t number) {
  const dim3 g = run->grid.grid, b = run->grid.block;
  run->block_number = number;
  run->block = {number % g.x, number / g.x % g.y, number / g.x / g.y};
  run->epoch = 0;
  run->at_barrier = 0;
  run->alive = static_cast<int>(run->threads.size());
  for (Warp& w : run->warps) {
    w.lanes = w.ready = 0;
    w.epoch = 0;
    w.meetings.clear();
  }
  for (std::size_t i = 0; i < run->threads.size(); ++i) {
    Thread& t = run->threads[i];
    const unsigned id = static_cast<unsigned>(i);
    t.id = static_cast<int>(i);
    t.lane = t.id % kWarpLanes;
    t.warp = t.id / kWarpLanes;
    t.index = {id % b.x, id / b.x % b.y, id / b.x / b.y};
    t.doing = Thread::Doing::kReady;
    t.copies.clear();
    t.group_sizes.clear();
    t.uncommitted = 0;
    t.fiber.start(pool().stacks.bottom(t.id), thread_main);
    run->warps[static_cast<std::size_t>(t.warp)].lanes |= 1u << t.lane;
  }
  for (Warp& w : run->warps) w.ready = w.lanes;
  shared_memory().begin_block(run->grid.shared);
}

// Nothing can run: all stand at one barrier, or something is wrong.
void release_barrier() {
  const std::vector<Thread>& threads = run->threads;
  const Thread* waiting = nullptr;
  for (const Thread& t : threads) {
    if (t.doing == Thread::Doing::kInCollective) {
      const Warp& w = run->warps[static_cast<std::size_t>(t.warp)];
      for (const Meeting& m : w.meetings) {
        if ((m.arrived >> t.lane & 1) == 0) continue;
        const std::uint32_t missing = m.mask & ~m.arrived;
        const int lane = std::countr_zero(missing);
        const std::size_t other = static_cast<std::size_t>(t.warp * kWarpLanes + lane);
        const char* const why = other >= threads.size()                             ? "is not in the block"
                                : threads[other].doing == Thread::Doing::kEnded     ? "has ended"
                                : threads[other].doing == Thread::Doing::kAtBarrier ? "waits at a barrier"
                                                                                    : "waits elsewhere";
        fail("divergent collective: {} waits in {} at {} for lane {}, which {}", t, m.what, m.site, lane,
             why);
      }
    }
    if (t.doing == Thread::Doing::kAtBarrier && waiting == nullptr) waiting = &t;
  }
  SHOAL_CHECK(waiting != nullptr);
  for (const Thread& t : threads) {
    if (t.doing == Thread::Doing::kEnded) {
      fail("divergent barrier: {} waits at {}, {} has ended", *waiting, waiting->site, t);
    }
    if (!same(t.site, waiting->site)) {
      fail("divergent barrier: {} waits at {}, {} at {}", *waiting, waiting->site, t, t.site);
    }
  }
  ++run->epoch;
  run->at_barrier = 0;
  for (Thread& t : run->threads) t.doing = Thread::Doing::kReady;
  for (Warp& w : run->warps) {
    w.ready = w.lanes;
    w.epoch = 0;
  }
}

// Every ready lane of the warp goes on until it waits.
void run_warp(std::size_t index, bool in_order) {
  Warp& w = run->warps[index];
  const std::uint32_t ready = std::exchange(w.ready, 0);
  int lanes[kWarpLanes], n = 0;
  for (std::uint32_t left = ready; left != 0; left &= left - 1) lanes[n++] = std::countr_zero(left);
  if (!in_order) run->order.shuffle(lanes, static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    self = &run->threads[index * kWarpLanes + static_cast<std::size_t>(lanes[i])];
    self->fiber.resume();
    self = nullptr;
    if (!run->fault.empty()) throw Error(run->fault);
  }
}

void run_block(std::uint32_t number, bool in_order) {
  begin_block(number);
  while (run->alive > 0) {
    std::size_t candidates[kMaxThreads / kWarpLanes], n = 0;
    for (std::size_t w = 0; w < run->warps.size(); ++w) {
      if (run->warps[w].ready != 0) candidates[n++] = w;
    }
    if (n == 0) {
      release_barrier();
    } else {
      run_warp(candidates[in_order ? 0 : run->order.below(n)], in_order);
    }
  }
}

}  // namespace

void run_grid(Settings& settings, const Grid& grid, void (*body)(const char* args)) {
  static std::uint32_t launches = 0;  // one host thread at a time
  const std::size_t threads = std::size_t{grid.block.x} * grid.block.y * grid.block.z;
  const std::uint64_t blocks = std::uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z;
  require(threads >= 1 && threads <= kMaxThreads, "{}: a block of {} threads; 1 to {} can be", grid.name,
          threads, kMaxThreads);
  require(blocks >= 1 && grid.grid.x < (1u << 31) && grid.grid.y < 65536 && grid.grid.z < 65536,
          "{}: a grid of {} x {} x {} blocks cannot be launched", grid.name, grid.grid.x, grid.grid.y,
          grid.grid.z);
  require(grid.shared <= Shared::kMaxDynamic, "{}: {} bytes of dynamic shared memory; at most {} can be",
          grid.name, grid.shared, Shared::kMaxDynamic);
  Run now;
  now.settings = &settings;
  now.grid = grid;
  now.launch_number = ++launches;
  now.threads = std::move(pool().threads);
  now.threads.resize(threads);
  now.warps.resize((threads + kWarpLanes - 1) / kWarpLanes);
  now.order = Order(settings.seed << 32 ^ launches);
  pool().body = body;
  ++settings.counters.launches;

  const bool in_order = settings.seed == 0;
  std::vector<std::uint32_t> order(blocks);
  std::iota(order.begin(), order.end(), 0u);
  if (!in_order) now.order.shuffle(order.data(), order.size());
  struct Active {
    explicit Active(Run& r) { run = &r; }
    ~Active() {
      pool().threads = std::move(run->threads);
      run = nullptr;
      self = nullptr;
    }
  } const active(now);
  try {
    for (const std::uint32_t number : order) run_block(number, in_order);
  } catch (const Error& e) {
    fail("simt: {}: block ({}, {}, {}): {}", grid.name, now.block.x, now.block.y, now.block.z, e.what());
  }
}

uint3 thread_index() {
  return self->index;
}
uint3 block_index() {
  return run->block;
}
dim3 block_size() {
  return run->grid.block;
}
dim3 grid_size() {
  return run->grid.grid;
}
int lane_index() {
  return self->lane;
}

void sync_block(Site site) {
  ++run->at_barrier;
  wait_here(Thread::Doing::kAtBarrier, site);
}

void stop() {
  for (;;) Fiber::yield();
}
void fault_at(const char* what, Site site) {
  fault("{}: {} at {}", *self, what, site);
}

}  // namespace shoal::simt
