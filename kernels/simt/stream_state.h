// A stream's queue, and the places in it that events mark. Private to stream_set.h.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "kernels/simt/recording.h"
#include "kernels/simt/settings.h"

namespace shoal::simt {

class StreamSet;

// A place in the work of a stream.
struct Point {
  int stream = 0;
  bool done = false;
  std::exception_ptr fault;              // work up to here has failed or was dropped
  std::shared_ptr<Recording> recording;  // of a capture: behind these of its pieces
  std::vector<int> behind;
};

struct EventState {
  std::shared_ptr<Point> last;  // null: never recorded
};

struct StreamState : std::enable_shared_from_this<StreamState> {
  struct Item {
    std::uint64_t number = 0;  // in order of enqueueing
    Work work;
    std::shared_ptr<Point> record;
    std::shared_ptr<Point> wait;
  };

  StreamSet* owner = nullptr;
  Settings* settings = nullptr;
  int number = 0;
  std::deque<Item> queue;
  bool closed = false;       // released: goes when its work is done
  std::exception_ptr fault;  // it lost work; nobody has been told
  std::shared_ptr<Recording> recording;
  std::vector<int> behind;  // pieces of the recording that what comes next must follow
};

}  // namespace shoal::simt
