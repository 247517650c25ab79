// Streams, events and graphs of a simt device, made to show what a program forgot to wait for.
//
// Under seed 0, work that is enqueued runs when the host waits for it and not before, in the order in which
// it was enqueued: a copy reads its source late, as on a slow GPU. Any other seed lets one stream or another
// run ahead as far as the waits between them allow, some seeds also while the host goes on: a wait that is
// missing shows as a wrong result within a few seeds. The rules are CUDA's: a wait is for the record that was
// enqueued last before it, and an event that was never recorded is done. A graph's pieces run in any order
// that its edges allow, beside the work of other streams.
//
// An Error thrown by work ends all that is queued on the device and reaches whoever waits; every other stream
// that lost work by it says so once. Then the device is as good as before. Host threads may share a device;
// work of all simt devices runs one piece at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/device.h"
#include "kernels/simt/recording.h"
#include "kernels/simt/schedule.h"
#include "kernels/simt/settings.h"
#include "kernels/simt/stream_state.h"

namespace shoal::simt {

class StreamSet {
 public:
  explicit StreamSet(Settings& settings);
  ~StreamSet();  // what is still queued never runs
  StreamSet(const StreamSet&) = delete;
  StreamSet& operator=(const StreamSet&) = delete;

  Stream make_stream();
  void release(Stream stream);
  Event make_event() { return {new EventState}; }
  void release(Event event) { delete static_cast<EventState*>(event.handle); }

  // Fills what the work will write of pinned memory with 0xFF, unless work before it still reads that: a host
  // that looks too early sees NaN.
  void enqueue(Stream stream, Work work);
  void record(Event event, Stream stream);
  void wait(Stream stream, Event event);
  void synchronize(Event event);
  void synchronize(Stream stream);
  std::unique_ptr<Graph> capture(Stream stream, const std::function<void()>& work);
  // `ends`: of the graph's launch before this one, which it follows; then of this one.
  void launch(Stream stream, const std::shared_ptr<const Recording>& graph,
              std::vector<std::shared_ptr<Point>>& ends);

  // Runs all there is. What fails is kept for those who wait.
  void drain();
  // An Error if the calling thread captures, and for the capture too: `what` does not belong into one.
  void refuse_in_capture(const char* what);
  // For what may not throw: the capture fails when it ends.
  void spoil_capture(const char* what);

 private:
  void push(StreamState& stream, StreamState::Item item);
  void poison(const Work& work);
  void wait_in_capture(StreamState& stream, const Point* point);
  void end(Recording& recording);
  std::exception_ptr run_until(const Point& point);  // null: it is done
  void run_ahead();
  StreamState* next_stream();
  StreamState& add_stream(int number);
  void launch_in_capture(StreamState& stream, const std::shared_ptr<const Recording>& graph);
  void run_head(StreamState& stream);
  void drop_all(const StreamState* failed, const std::exception_ptr& fault);
  void forget_closed();
  Recording* own_recording() const;

  Settings& settings_;
  std::vector<std::shared_ptr<StreamState>> streams_;
  std::vector<std::shared_ptr<Recording>> recordings_;  // captures in progress
  Schedule schedule_;
  std::uint64_t enqueued_ = 0;
  int made_ = 0;
};

}  // namespace shoal::simt
