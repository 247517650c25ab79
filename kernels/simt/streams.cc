#include "kernels/simt/streams.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/simt/stream_set.h"

namespace shoal::simt {
namespace {

// The executor runs one launch at a time, whichever device it is of.
std::mutex& executor() {
  static std::mutex one;
  return one;
}

StreamState& state(Stream stream) {
  require(stream.handle != nullptr, "simt: the null handle is no stream");
  return *static_cast<StreamState*>(stream.handle);
}
EventState& state(Event event) {
  require(event.handle != nullptr, "simt: the null handle is no event");
  return *static_cast<EventState*>(event.handle);
}

// Sorted, each once.
void add(std::vector<int>& to, const std::vector<int>& more) {
  std::vector<int> both;
  std::set_union(to.begin(), to.end(), more.begin(), more.end(), std::back_inserter(both));
  to = std::move(both);
}

bool waits(const StreamState& s) {
  const Point* const point = s.queue.front().wait.get();
  return point != nullptr && !point->done && point->fault == nullptr;
}

[[noreturn]] void fail_capture(Recording& recording, const std::string& why) {
  recording.spoil(why);
  fail("simt: capture: {}", why);
}

// A piece that keeps its graph.
Work as_part_of(const std::shared_ptr<const Recording>& graph, const Recording::Piece& piece) {
  return {[graph, &piece] { piece.work.run(); }, piece.work.reads, piece.work.writes};
}

class SimtGraph final : public Graph {
 public:
  SimtGraph(StreamSet& set, std::shared_ptr<const Recording> recording)
      : set_(set), recording_(std::move(recording)) {}

  void launch(Stream stream) override { set_.launch(stream, recording_, ends_); }

 private:
  StreamSet& set_;
  std::shared_ptr<const Recording> recording_;
  std::vector<std::shared_ptr<Point>> ends_;
};

}  // namespace

void enqueue(Stream stream, std::function<void()> work) {
  state(stream).owner->enqueue(stream, {std::move(work), {}, {}});
}
Settings& settings(Stream stream) {
  return *state(stream).settings;
}

StreamSet::StreamSet(Settings& settings) : settings_(settings) {}
StreamSet::~StreamSet() = default;

Stream StreamSet::make_stream() {
  const std::lock_guard lock(executor());
  return {&add_stream(++made_)};
}

StreamState& StreamSet::add_stream(int number) {
  const auto& stream = streams_.emplace_back(std::make_shared<StreamState>());
  stream->owner = this;
  stream->settings = &settings_;
  stream->number = number;
  return *stream;
}

void StreamSet::release(Stream stream) {
  if (stream.handle == nullptr) return;
  const std::lock_guard lock(executor());
  StreamState& s = state(stream);
  s.closed = true;
  if (s.recording != nullptr) s.recording->spoil(fmt::format("stream {} is released", s.number));
  forget_closed();
}

void StreamSet::enqueue(Stream stream, Work work) {
  const std::lock_guard lock(executor());
  StreamState& s = state(stream);
  if (s.recording == nullptr) {
    poison(work);
    push(s, {.work = std::move(work)});
    run_ahead();
    return;
  }
  Recording& recording = *s.recording;
  const int piece = static_cast<int>(recording.pieces.size());
  recording.pieces.push_back({std::move(work), std::exchange(s.behind, {piece}), s.number});
}

void StreamSet::push(StreamState& stream, StreamState::Item item) {
  if (stream.fault != nullptr) {  // lost as well, until it is told
    if (item.record != nullptr) item.record->fault = stream.fault;
    return;
  }
  item.number = ++enqueued_;
  stream.queue.push_back(std::move(item));
}

void StreamSet::poison(const Work& work) {
  const auto read_by = [](const Work& w, const HostRange& range) {
    return std::any_of(w.reads.begin(), w.reads.end(), [&](const HostRange& r) { return r.overlaps(range); });
  };
  for (const HostRange& range : work.writes) {
    bool read = read_by(work, range);
    for (const auto& s : streams_) {
      for (const StreamState::Item& item : s->queue) read = read || read_by(item.work, range);
    }
    if (!read) std::memset(range.begin, 0xff, range.bytes);
  }
}

void StreamSet::record(Event event, Stream stream) {
  const std::lock_guard lock(executor());
  StreamState& s = state(stream);
  auto point = std::make_shared<Point>();
  point->stream = s.number;
  if (s.recording == nullptr) {
    push(s, {.record = point});
  } else {
    point->recording = s.recording;
    point->behind = s.behind;
  }
  state(event).last = std::move(point);
}

void StreamSet::wait(Stream stream, Event event) {
  const std::lock_guard lock(executor());
  StreamState& s = state(stream);
  const std::shared_ptr<Point> point = state(event).last;
  if (s.recording != nullptr) {
    wait_in_capture(s, point.get());
  } else if (point != nullptr && point->recording != nullptr) {
    require(
        !point->recording->ended,
        "simt: stream {} waits for an event that was recorded inside of a capture: it orders nothing outside",
        s.number);
    s.recording = point->recording;  // a fork: takes part from here on
    s.behind = point->behind;
    s.recording->streams.push_back(s.shared_from_this());
  } else if (point != nullptr && !point->done) {
    push(s, {.wait = point});
  }
}

void StreamSet::wait_in_capture(StreamState& stream, const Point* point) {
  if (point == nullptr || point->recording != stream.recording) {
    fail_capture(
        *stream.recording,
        fmt::format("stream {} waits for an event that was not recorded inside of it", stream.number));
  }
  add(stream.behind, point->behind);
}

void StreamSet::synchronize(Event event) {
  refuse_in_capture("synchronize");
  const std::lock_guard lock(executor());
  const std::shared_ptr<Point> point = state(event).last;
  if (point == nullptr) return;
  require(point->recording == nullptr,
          "simt: synchronize: the event was recorded inside of a capture: there is no such point outside");
  const std::exception_ptr fault = run_until(*point);
  if (fault == nullptr) return;
  for (const auto& s : streams_) {
    if (s->number == point->stream) s->fault = nullptr;  // told now
  }
  std::rethrow_exception(fault);
}

void StreamSet::synchronize(Stream stream) {
  refuse_in_capture("synchronize");
  const std::lock_guard lock(executor());
  StreamState& s = state(stream);
  if (s.recording != nullptr) {
    fail_capture(*s.recording, fmt::format("synchronize of stream {}, which takes part", s.number));
  }
  if (!s.queue.empty()) {
    const auto end = std::make_shared<Point>();
    end->stream = s.number;
    push(s, {.record = end});
    run_until(*end);
  }
  if (s.fault != nullptr) std::rethrow_exception(std::exchange(s.fault, nullptr));
}

void StreamSet::drain() {
  const std::lock_guard lock(executor());
  while (StreamState* const s = next_stream()) run_head(*s);
}

// What a device does while the host does something else.
void StreamSet::run_ahead() {
  schedule_.follow(settings_.seed);
  while (schedule_.runs_ahead()) {
    StreamState* const s = next_stream();
    if (s == nullptr) return;
    run_head(*s);
  }
}

std::exception_ptr StreamSet::run_until(const Point& point) {
  while (!point.done && point.fault == nullptr) {
    if (StreamState* const s = next_stream()) {
      run_head(*s);
      continue;
    }
    std::string who;
    for (const auto& s : streams_) {
      if (!s->queue.empty()) who += fmt::format("{}stream {}", who.empty() ? "" : ", ", s->number);
    }
    const auto fault = std::make_exception_ptr(
        Error(fmt::format("simt: nothing can run: {} for events that nothing queued on this device records",
                          who.empty() ? "the host waits" : who + ": waiting")));
    drop_all(nullptr, fault);
    return fault;
  }
  if (point.fault == nullptr) run_ahead();
  return point.fault;
}

// Whose head runs next; null: nobody's can.
StreamState* StreamSet::next_stream() {
  std::vector<StreamState*> able;
  for (const auto& s : streams_) {
    if (!s->queue.empty() && !waits(*s)) able.push_back(s.get());
  }
  schedule_.follow(settings_.seed);
  return schedule_.pick(std::move(able));
}

void StreamSet::run_head(StreamState& stream) {
  const StreamState::Item item = std::move(stream.queue.front());
  stream.queue.pop_front();
  try {
    if (item.work.run) item.work.run();
  } catch (...) {
    drop_all(&stream, std::current_exception());
    return;
  }
  if (item.record != nullptr) item.record->done = true;
  forget_closed();
}

void StreamSet::drop_all(const StreamState* failed, const std::exception_ptr& fault) {
  for (const auto& s : streams_) {
    if (s.get() != failed && s->queue.empty()) continue;
    for (const StreamState::Item& item : s->queue) {
      if (item.record != nullptr) item.record->fault = fault;
    }
    s->queue.clear();
    s->fault = fault;
  }
  forget_closed();
}

void StreamSet::forget_closed() {
  std::erase_if(streams_, [](const auto& s) { return s->closed && s->queue.empty(); });
}

std::unique_ptr<Graph> StreamSet::capture(Stream stream, const std::function<void()>& work) {
  const auto recording = std::make_shared<Recording>();
  StreamState& origin = state(stream);
  refuse_in_capture("a capture");
  {
    const std::lock_guard lock(executor());
    require(origin.recording == nullptr, "simt: capture: stream {} takes part in another", origin.number);
    recording->thread = std::this_thread::get_id();
    recording->streams.push_back(origin.shared_from_this());
    origin.recording = recording;
    recordings_.push_back(recording);
  }
  try {
    work();
  } catch (...) {
    const std::lock_guard lock(executor());
    end(*recording);
    throw;
  }
  const std::lock_guard lock(executor());
  const std::vector<int> last = origin.behind;
  end(*recording);
  require(recording->fault.empty(), "simt: capture: {}", recording->fault);
  const int loose = recording->unjoined(last);
  if (loose >= 0) {
    fail("simt: capture: stream {} does not wait for all that stream {} does: an unjoined fork",
         origin.number, recording->pieces[static_cast<std::size_t>(loose)].stream);
  }
  return std::make_unique<SimtGraph>(*this, recording);
}

// The pieces go to streams of their own, a chain to each, that wait for one another as the edges want.
void StreamSet::launch(Stream stream, const std::shared_ptr<const Recording>& graph,
                       std::vector<std::shared_ptr<Point>>& ends) {
  const std::lock_guard lock(executor());
  StreamState& s = state(stream);
  if (s.recording != nullptr) {
    launch_in_capture(s, graph);
    return;
  }
  Work whole;
  for (const Recording::Piece& piece : graph->pieces) {
    whole.reads.insert(whole.reads.end(), piece.work.reads.begin(), piece.work.reads.end());
    whole.writes.insert(whole.writes.end(), piece.work.writes.begin(), piece.work.writes.end());
  }
  poison(whole);
  for (const auto& end : std::exchange(ends, {})) push(s, {.wait = end});
  const auto begin = std::make_shared<Point>();
  begin->stream = s.number;
  push(s, {.record = begin});

  struct Chain {
    StreamState* stream;
    int last;
  };
  std::vector<Chain> chains;
  std::vector<std::shared_ptr<Point>> done;
  for (int i = 0; i < static_cast<int>(graph->pieces.size()); ++i) {
    const Recording::Piece& piece = graph->pieces[static_cast<std::size_t>(i)];
    auto chain = std::find_if(chains.begin(), chains.end(), [&](const Chain& c) {
      return std::find(piece.follows.begin(), piece.follows.end(), c.last) != piece.follows.end();
    });
    if (chain == chains.end()) {
      chain = chains.insert(chain, {&add_stream(s.number), i});
      push(*chain->stream, {.wait = begin});
    }
    for (const int before : piece.follows) {
      if (before != chain->last) push(*chain->stream, {.wait = done[static_cast<std::size_t>(before)]});
    }
    push(*chain->stream, {.work = as_part_of(graph, piece)});
    const auto& point = done.emplace_back(std::make_shared<Point>());
    point->stream = s.number;
    push(*chain->stream, {.record = point});
    chain->last = i;
  }
  for (const Chain& chain : chains) {
    chain.stream->closed = true;
    ends.push_back(done[static_cast<std::size_t>(chain.last)]);
    push(s, {.wait = ends.back()});
  }
  run_ahead();
}

void StreamSet::launch_in_capture(StreamState& stream, const std::shared_ptr<const Recording>& graph) {
  std::vector<Recording::Piece>& pieces = stream.recording->pieces;
  const int base = static_cast<int>(pieces.size());
  std::vector<int> last;
  for (const Recording::Piece& piece : graph->pieces) {
    std::vector<int> follows = stream.behind;
    for (const int before : piece.follows) add(follows, {base + before});
    last.push_back(static_cast<int>(pieces.size()));
    pieces.push_back({as_part_of(graph, piece), std::move(follows), stream.number});
  }
  if (!last.empty()) stream.behind = std::move(last);
}

void StreamSet::end(Recording& recording) {
  recording.ended = true;
  for (const auto& s : recording.streams) {
    s->recording = nullptr;
    s->behind.clear();
  }
  std::erase_if(recordings_, [&](const auto& r) { return r.get() == &recording; });
  forget_closed();
}

Recording* StreamSet::own_recording() const {
  for (const auto& r : recordings_) {
    if (r->thread == std::this_thread::get_id()) return r.get();
  }
  return nullptr;
}

void StreamSet::refuse_in_capture(const char* what) {
  const std::lock_guard lock(executor());
  if (Recording* const r = own_recording()) fail_capture(*r, fmt::format("{} inside of it", what));
}

void StreamSet::spoil_capture(const char* what) {
  const std::lock_guard lock(executor());
  if (Recording* const r = own_recording()) r->spoil(fmt::format("{} inside of it", what));
}

}  // namespace shoal::simt
