// Which stream runs next, and whether any does while the host goes on. Private to stream_set.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "kernels/simt/run.h"
#include "kernels/simt/stream_state.h"

namespace shoal::simt {

class Schedule {
 public:
  // Seed 0: work in the order of enqueueing, none while the host goes on.
  void follow(std::uint64_t seed) {
    if (seed == seed_) return;
    seed_ = seed;
    order_ = Order(seed);
    constexpr std::size_t kStretches[] = {1, 1, 4, 16}, kEagerness[] = {0, 0, 2, 4};
    stretch_ = kStretches[order_.below(std::size(kStretches))];
    eagerness_ = kEagerness[order_.below(std::size(kEagerness))];
    slow_ = static_cast<int>(order_.below(2 * kSlowEvery));
  }

  bool runs_ahead() { return seed_ != 0 && order_.below(4) < eagerness_; }

  // Of streams whose heads can run; null: there is none.
  StreamState* pick(std::vector<StreamState*> able) {
    if (able.empty()) return nullptr;
    if (seed_ == 0) return first_enqueued(able);
    const auto slow = [&](const StreamState* s) { return s->number % kSlowEvery == slow_; };
    if (!std::all_of(able.begin(), able.end(), slow)) std::erase_if(able, slow);
    const bool stays =
        std::find(able.begin(), able.end(), favourite_) != able.end() && order_.below(stretch_) != 0;
    if (!stays) favourite_ = able[order_.below(able.size())];
    return favourite_;
  }

 private:
  static constexpr int kSlowEvery = 3;

  static StreamState* first_enqueued(const std::vector<StreamState*>& able) {
    return *std::min_element(able.begin(), able.end(), [](const StreamState* a, const StreamState* b) {
      return a->queue.front().number < b->queue.front().number;
    });
  }

  std::uint64_t seed_ = 0;
  Order order_;
  std::size_t stretch_ = 1;    // pieces that a stream runs, in the mean, until another may
  std::size_t eagerness_ = 0;  // chances in four that another piece runs while the host goes on
  int slow_ = 0;               // every third stream runs only where no other can; from kSlowEvery on: none
  StreamState* favourite_ = nullptr;
};

}  // namespace shoal::simt
