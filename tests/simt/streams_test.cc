// Streams, events and graphs of the simt device: programs that wait for what they need have one result under
// every seed; for each wait that a program needs, leaving it out is found.
#include "kernels/simt/streams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/device.h"
#include "tests/support/refusal.h"

namespace shoal::test {
namespace {

// A missing wait is to be found by a quarter of these.
constexpr std::uint64_t kSeeds = 12;

enum class LeftOut {
  kNothing,
  kComputeForUpload,   // the compute stream reads the ring before the copy has come
  kUploadForConsumer,  // the copy stream writes a place of the ring that is still read
  kRefillForUpload,    // the host fills a pinned block whose copy has not run
  kFillAfterCopy,      // the host fills a pinned block after its copy is enqueued
  kHostForResult,      // the host reads a result that has not come
  kGraphForItsFork,    // a branch of the graph is joined too late
  kForkForGraph,       // a branch of the graph starts too early
};

// Three floats a place: enough to see whole copies.
constexpr std::size_t kCount = 3, kBytes = kCount * sizeof(float);
constexpr int kRing = 2, kLate = 3, kResults = kLate + 1, kSteps = 9;

// The engine's pipeline in small: pinned blocks, a copy stream, a ring on the device, one fixed block that a
// graph with two branches reads, results that come back and are read some steps late.
class Pipeline {
 public:
  Pipeline(std::uint64_t seed, LeftOut left_out)
      : device_(make_device("simt", {.seed = seed})), left_out_(left_out) {
    for (Stream* s : {&copies_, &compute_, &side_}) *s = device_->make_stream();
    for (Event* e : {&fork_, &join_}) *e = device_->make_event();
    for (int i = 0; i < kRing; ++i) {
      for (Event* e : {&uploaded_[i], &consumed_[i]}) *e = device_->make_event();
      pinned_[i] = block(Memory::kPinned);
      ring_[i] = block(Memory::kDevice);
    }
    for (int i = 0; i < kResults; ++i) {
      done_[i] = device_->make_event();
      result_[i] = block(Memory::kPinned);
    }
    for (float** p : {&fixed_, &twice_, &sum_}) *p = block(Memory::kDevice);
  }
  ~Pipeline() {
    for (const auto& [memory, p] : blocks_) device_->release(memory, p);
    for (const Event e : {fork_, join_}) device_->release(e);
    for (int i = 0; i < kRing; ++i) {
      for (const Event e : {uploaded_[i], consumed_[i]}) device_->release(e);
    }
    for (const Event e : done_) device_->release(e);
    for (const Stream s : {copies_, compute_, side_}) device_->release(s);
  }

  std::vector<float> run() {
    for (float* p : {sum_, twice_}) device_->zero(p, kBytes, compute_);
    const auto graph = capture();
    std::vector<float> results;
    for (int step = 0; step < kSteps; ++step) {
      const int i = step % kRing;
      if (left_out_ != LeftOut::kRefillForUpload) device_->synchronize(uploaded_[i]);
      const auto fill = [&] { std::fill_n(pinned_[i], kCount, static_cast<float>(step + 1)); };
      if (left_out_ != LeftOut::kFillAfterCopy) fill();
      if (left_out_ != LeftOut::kUploadForConsumer) device_->wait(copies_, consumed_[i]);
      device_->copy(ring_[i], pinned_[i], kBytes, copies_);
      if (left_out_ == LeftOut::kFillAfterCopy) fill();
      device_->record(uploaded_[i], copies_);

      if (left_out_ != LeftOut::kComputeForUpload) device_->wait(compute_, uploaded_[i]);
      device_->copy(fixed_, ring_[i], kBytes, compute_);
      device_->record(consumed_[i], compute_);
      graph->launch(compute_);
      device_->copy(result_[step % kResults], sum_, kBytes, compute_);
      device_->record(done_[step % kResults], compute_);
      if (step >= kLate) read(step - kLate, results);
    }
    for (int step = kSteps - kLate; step < kSteps; ++step) read(step, results);
    return results;
  }

  static std::vector<float> expected() {
    std::vector<float> results;
    float sum = 0;
    for (int step = 0; step < kSteps; ++step) {
      sum = 3 * sum + 2 * static_cast<float>(step + 1);
      results.push_back(sum);
    }
    return results;
  }

 private:
  float* block(Memory memory) {
    blocks_.emplace_back(memory, device_->allocate(memory, kBytes));
    return static_cast<float*>(blocks_.back().second);
  }

  // sum = 3 sum + twice, with twice = 2 fixed, on a side stream. Last of all fixed is emptied.
  std::unique_ptr<Graph> capture() {
    const auto kernel = [](Stream stream, float* to, auto value) {
      simt::enqueue(stream, [=] {
        for (std::size_t c = 0; c < kCount; ++c) to[c] = value(c);
      });
    };
    return device_->capture(compute_, [&] {
      float *const sum = sum_, *const twice = twice_, *const fixed = fixed_;
      device_->record(fork_, compute_);
      kernel(compute_, sum, [=](std::size_t c) { return 3 * sum[c] + fixed[c]; });
      if (left_out_ != LeftOut::kForkForGraph) device_->record(fork_, compute_);
      device_->wait(side_, fork_);
      kernel(side_, twice, [=](std::size_t c) { return 2 * fixed[c] + 0 * sum[c]; });
      kernel(side_, sum, [=](std::size_t c) { return sum[c] - fixed[c]; });
      device_->record(join_, side_);
      if (left_out_ != LeftOut::kGraphForItsFork) device_->wait(compute_, join_);
      kernel(compute_, sum, [=](std::size_t c) { return sum[c] + twice[c]; });
      device_->wait(compute_, join_);
      device_->zero(fixed_, kBytes, compute_);
    });
  }

  void read(int step, std::vector<float>& results) {
    if (left_out_ != LeftOut::kHostForResult) device_->synchronize(done_[step % kResults]);
    const float* const r = result_[step % kResults];
    results.push_back(r[0] == r[1] && r[1] == r[2] ? r[0] : NAN);
  }

  std::unique_ptr<Device> device_;
  LeftOut left_out_;
  Stream copies_, compute_, side_;
  Event fork_, join_, uploaded_[kRing], consumed_[kRing], done_[kResults];
  float *pinned_[kRing], *result_[kResults], *ring_[kRing], *fixed_, *twice_, *sum_;
  std::vector<std::pair<Memory, void*>> blocks_;
};

TEST(simt, PipelineHasOneResultUnderEverySeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(Pipeline(seed, LeftOut::kNothing).run(), Pipeline::expected()) << "seed " << seed;
  }
}

class MissingWaits : public testing::TestWithParam<LeftOut> {};

TEST_P(MissingWaits, AreFoundByAQuarterOfTheSeeds) {
  std::set<std::uint64_t> found;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    if (Pipeline(seed, GetParam()).run() != Pipeline::expected()) found.insert(seed);
  }
  EXPECT_GE(found.size(), kSeeds / 4) << testing::PrintToString(found);
  RecordProperty("seeds_that_find_it", testing::PrintToString(found));
}

INSTANTIATE_TEST_SUITE_P(simt, MissingWaits,
                         testing::Values(LeftOut::kComputeForUpload, LeftOut::kUploadForConsumer,
                                         LeftOut::kRefillForUpload, LeftOut::kFillAfterCopy,
                                         LeftOut::kHostForResult, LeftOut::kGraphForItsFork,
                                         LeftOut::kForkForGraph),
                         [](const auto& wait) {
                           return "left_out_" + std::to_string(static_cast<int>(wait.param));
                         });

// A device with two streams, an event, and memory.
class SimtStreams : public testing::Test {
 protected:
  ~SimtStreams() override {
    device_->release(Memory::kPinned, pinned_);
    device_->release(Memory::kDevice, memory_);
    device_->release(event_);
    device_->release(a_);
    device_->release(b_);
  }

  // Appends to ran_ when it runs.
  void work(Stream stream, int what) {
    simt::enqueue(stream, [this, what] { ran_.push_back(what); });
  }
  void fault(Stream stream) {
    simt::enqueue(stream, [] { fail("planted"); });
  }
  std::string capture_refusal(const std::function<void()>& work) {
    return refusal([&] { device_->capture(a_, work); });
  }

  std::unique_ptr<Device> device_ = make_device("simt");
  Stream a_ = device_->make_stream(), b_ = device_->make_stream();
  Event event_ = device_->make_event();
  float* memory_ = static_cast<float*>(device_->allocate(Memory::kDevice, kBytes));
  float* pinned_ = static_cast<float*>(device_->allocate(Memory::kPinned, kBytes));
  std::vector<int> ran_;
};

TEST_F(SimtStreams, RunNothingUntilItIsWaitedFor) {
  work(a_, 1);
  device_->record(event_, a_);
  work(a_, 2);
  EXPECT_EQ(ran_, std::vector<int>{});
  device_->synchronize(event_);
  EXPECT_EQ(ran_, std::vector<int>{1});
  device_->synchronize(a_);
  EXPECT_EQ(ran_, (std::vector<int>{1, 2}));
}

TEST_F(SimtStreams, KeepTheOrderOfEnqueueingUnderSeedZero) {
  work(a_, 1);
  work(b_, 2);
  work(a_, 3);
  work(b_, 4);
  device_->synchronize(a_);
  EXPECT_EQ(ran_, (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(SimtStreams, WaitForTheRecordBeforeTheWait) {
  device_->wait(b_, event_);  // never recorded: done
  work(b_, 1);
  device_->synchronize(b_);
  work(a_, 2);
  device_->record(event_, a_);
  device_->wait(b_, event_);
  work(a_, 3);
  device_->record(event_, a_);  // later than the wait: not waited for
  work(b_, 4);
  device_->synchronize(b_);
  EXPECT_EQ(std::set<int>(ran_.begin(), ran_.end()).count(2), 1u);
  EXPECT_EQ(ran_.front(), 1);
  const auto at = [&](int what) { return std::find(ran_.begin(), ran_.end(), what) - ran_.begin(); };
  EXPECT_LT(at(2), at(4));
  device_->synchronize(event_);
  EXPECT_EQ(std::set<int>(ran_.begin(), ran_.end()), (std::set<int>{1, 2, 3, 4}));
}

TEST_F(SimtStreams, PoisonAPinnedDestinationUnlessWorkStillReadsIt) {
  for (std::size_t c = 0; c < kCount; ++c) pinned_[c] = 5;
  device_->copy(memory_, pinned_, kBytes, a_);
  device_->copy(pinned_, memory_, kBytes, a_);
  EXPECT_EQ(pinned_[0], 5) << "an earlier copy reads it";
  device_->synchronize(a_);
  EXPECT_EQ(pinned_[0], 5);
  device_->copy(pinned_, memory_, kBytes, a_);
  EXPECT_TRUE(std::isnan(pinned_[0]));
  device_->synchronize(a_);
  EXPECT_EQ(pinned_[0], 5);
}

TEST_F(SimtStreams, CopyHostMemoryThatIsNotPinnedInOrder) {
  std::vector<float> from(kCount, 1), to(kCount, 0);
  device_->copy(memory_, from.data(), kBytes, a_);
  device_->zero(memory_, sizeof(float), a_);
  device_->copy(to.data(), memory_, kBytes, a_);
  device_->synchronize(a_);
  EXPECT_EQ(to, (std::vector<float>{0, 1, 1}));
}

TEST_F(SimtStreams, RefuseWhatIsOutOfBounds) {
  EXPECT_EQ(refusal([&] { device_->copy(memory_ + 1, pinned_, kBytes, a_); }).substr(0, 29),
            "simt: copy: to: 12 bytes at 0");
  EXPECT_EQ(refusal([&] { device_->copy(memory_, pinned_ + 1, kBytes, a_); }),
            "simt: copy: from: 12 bytes from byte 4 on, of a pinned block of 12");
  EXPECT_EQ(refusal([&] { device_->zero(memory_, kBytes + 1, a_); }).substr(0, 25),
            "simt: zero: 13 bytes at 0");
  EXPECT_EQ(refusal([&] { device_->zero(&ran_, 1, a_); }).substr(0, 14), "simt: zero: 0x");
  EXPECT_EQ(refusal([&] { device_->release(Memory::kPinned, memory_); }).substr(0, 16), "simt: release: 0");
}

TEST_F(SimtStreams, FinishAReleasedStream) {
  const Stream stream = device_->make_stream();
  work(stream, 1);
  device_->record(event_, stream);
  device_->release(stream);
  EXPECT_EQ(ran_, std::vector<int>{});
  device_->synchronize(event_);
  EXPECT_EQ(ran_, std::vector<int>{1});
}

TEST_F(SimtStreams, RunWhatMayUseMemoryBeforeItIsReleased) {
  void* const block = device_->allocate(Memory::kDevice, kBytes);
  work(a_, 1);
  device_->release(Memory::kDevice, block);
  EXPECT_EQ(ran_, std::vector<int>{1});
}

TEST_F(SimtStreams, GiveAnErrorToWhoeverWaits) {
  fault(a_);
  work(b_, 1);
  EXPECT_EQ(refusal([&] { device_->synchronize(b_); }), "planted");
  EXPECT_EQ(ran_, std::vector<int>{}) << "what was queued is dropped";
  EXPECT_EQ(refusal([&] { device_->synchronize(a_); }), "planted") << "this stream lost work too";
  work(a_, 2);
  work(b_, 3);
  device_->synchronize(a_);
  device_->synchronize(b_);
  EXPECT_EQ(ran_, (std::vector<int>{2, 3}));
}

TEST_F(SimtStreams, GiveAnErrorToWhoeverWaitsForAnEvent) {
  fault(a_);
  device_->record(event_, a_);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(refusal([&] { device_->synchronize(event_); }), "planted");
  device_->synchronize(a_);  // told already
  device_->wait(b_, event_);
  work(b_, 1);
  device_->synchronize(b_);
  EXPECT_EQ(ran_, std::vector<int>{1});
}

TEST_F(SimtStreams, KeepAnErrorThatGivingBackMemoryHasFound) {
  fault(a_);
  device_->release(Memory::kDevice, device_->allocate(Memory::kDevice, kBytes));
  EXPECT_EQ(refusal([&] { device_->synchronize(a_); }), "planted");
  device_->synchronize(a_);
}

// Under some seeds work runs while the host goes on; an Error is told at the next wait all the same.
TEST(simt, ErrorsAreToldAtTheNextWaitUnderEverySeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto device = make_device("simt", {.seed = seed});
    const Stream stream = device->make_stream();
    int ran = 0;
    simt::enqueue(stream, [] { fail("planted"); });
    simt::enqueue(stream, [&] { ++ran; });
    EXPECT_EQ(refusal([&] { device->synchronize(stream); }), "planted") << "seed " << seed;
    EXPECT_EQ(ran, 0) << "seed " << seed;
    simt::enqueue(stream, [&] { ++ran; });
    device->synchronize(stream);
    EXPECT_EQ(ran, 1) << "seed " << seed;
    device->release(stream);
  }
}

TEST_F(SimtStreams, SayWhoWaitsForever) {
  const auto other = make_device("simt");
  const Stream stream = other->make_stream();
  simt::enqueue(stream, [] {});
  other->record(event_, stream);
  device_->wait(b_, event_);
  work(a_, 1);
  EXPECT_EQ(refusal([&] { device_->synchronize(b_); }),
            "simt: nothing can run: stream 2: waiting for events that nothing queued on this device records");
  work(b_, 2);
  device_->synchronize(b_);
  EXPECT_EQ(ran_, (std::vector<int>{1, 2}));
  other->release(stream);
}

TEST_F(SimtStreams, ReplayAGraphOnAnyStream) {
  const Stream stream = device_->make_stream();
  const auto graph = device_->capture(stream, [&] {
    work(stream, 1);
    work(stream, 2);
  });
  device_->release(stream);
  device_->synchronize(a_);
  EXPECT_EQ(ran_, std::vector<int>{});
  for (int i = 0; i < 2; ++i) graph->launch(a_);
  device_->synchronize(a_);
  EXPECT_EQ(ran_, (std::vector<int>{1, 2, 1, 2}));
}

TEST_F(SimtStreams, KeepAGraphThatIsPartOfAnother) {
  const Stream stream = device_->make_stream();
  auto inner = device_->capture(stream, [&] {
    work(stream, 1);
    work(stream, 2);
  });
  device_->release(stream);
  const auto outer = device_->capture(a_, [&] {
    work(a_, 0);
    inner->launch(a_);
    work(a_, 3);
  });
  inner.reset();
  for (int i = 0; i < 2; ++i) outer->launch(b_);
  device_->synchronize(b_);
  EXPECT_EQ(ran_, (std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3}));
}

// Two lanes whose graphs use the same scratch memory: they must run one after the other.
TEST(simt, GraphsThatShareScratchMemoryAreFound) {
  const auto run = [](std::uint64_t seed, bool in_turn) {
    const auto device = make_device("simt", {.seed = seed});
    const Event event = device->make_event();
    int scratch = 0;
    std::vector<int> out(2);
    std::vector<Stream> streams;
    std::vector<std::unique_ptr<Graph>> graphs;
    for (int lane = 0; lane < 2; ++lane) {
      const Stream s = streams.emplace_back(device->make_stream());
      graphs.push_back(device->capture(s, [&] {
        simt::enqueue(s, [&scratch, lane] { scratch = lane + 1; });
        simt::enqueue(s, [&out, &scratch, lane] { out[static_cast<std::size_t>(lane)] = scratch; });
      }));
    }
    graphs[0]->launch(streams[0]);
    device->record(event, streams[0]);
    if (in_turn) device->wait(streams[1], event);
    graphs[1]->launch(streams[1]);
    for (const Stream s : streams) device->synchronize(s);
    for (const Stream s : streams) device->release(s);
    device->release(event);
    return out == std::vector<int>{1, 2};
  };
  int found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_TRUE(run(seed, true)) << "seed " << seed;
    found += run(seed, false) ? 0 : 1;
  }
  EXPECT_GE(found, 3);
}

// The same graph does not run beside itself, on whichever streams.
TEST(simt, LaunchesOfAGraphFollowOneAnother) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto device = make_device("simt", {.seed = seed});
    const Stream a = device->make_stream(), b = device->make_stream();
    int value = 0;
    const auto graph = device->capture(a, [&] {
      simt::enqueue(a, [&] { value = 2 * value; });
      simt::enqueue(a, [&] { value = value + 1; });
    });
    for (const Stream s : {a, b, a, b}) graph->launch(s);
    device->synchronize(a);
    device->synchronize(b);
    EXPECT_EQ(value, 15) << "seed " << seed;
    device->release(a);
    device->release(b);
  }
}

TEST_F(SimtStreams, RefuseACaptureWithAForkThatIsNotJoined) {
  EXPECT_EQ(capture_refusal([&] {
              work(a_, 1);
              device_->record(event_, a_);
              device_->wait(b_, event_);
              work(b_, 2);
            }),
            "simt: capture: stream 1 does not wait for all that stream 2 does: an unjoined fork");
  work(b_, 3);
  device_->synchronize(b_);  // no longer part of it
  EXPECT_EQ(ran_, std::vector<int>{3});
}

TEST_F(SimtStreams, RefuseWhatDoesNotBelongIntoACapture) {
  EXPECT_EQ(capture_refusal([&] { device_->synchronize(a_); }), "simt: capture: synchronize inside of it");
  EXPECT_EQ(capture_refusal([&] { device_->synchronize(b_); }), "simt: capture: synchronize inside of it");
  EXPECT_EQ(capture_refusal([&] { device_->synchronize(event_); }),
            "simt: capture: synchronize inside of it");
  EXPECT_EQ(capture_refusal([&] { device_->allocate(Memory::kDevice, 1); }),
            "simt: capture: an allocation inside of it");
  EXPECT_EQ(capture_refusal([&] { device_->capture(b_, [] {}); }), "simt: capture: a capture inside of it");
  EXPECT_EQ(capture_refusal([&] { device_->copy(&ran_, memory_, 1, a_); }),
            "simt: capture: a copy from or to host memory that is not pinned inside of it");
  void* const block = device_->allocate(Memory::kDevice, kBytes);
  EXPECT_EQ(capture_refusal([&] { device_->release(Memory::kDevice, block); }),
            "simt: capture: a release of memory inside of it");
  // An Error that the work keeps to itself spoils the capture all the same.
  EXPECT_EQ(capture_refusal([&] { refusal([&] { device_->synchronize(a_); }); }),
            "simt: capture: synchronize inside of it");
  EXPECT_EQ(capture_refusal([] { fail("of its own"); }), "of its own");
}

TEST_F(SimtStreams, RefuseEventsThatCrossTheEdgeOfACapture) {
  const std::string outside = "simt: capture: stream 1 waits for an event that was not recorded inside of it";
  EXPECT_EQ(capture_refusal([&] { device_->wait(a_, event_); }), outside);
  device_->record(event_, b_);
  EXPECT_EQ(capture_refusal([&] { device_->wait(a_, event_); }), outside);
  device_->capture(a_, [&] { device_->record(event_, a_); });
  EXPECT_EQ(
      refusal([&] { device_->wait(b_, event_); }),
      "simt: stream 2 waits for an event that was recorded inside of a capture: it orders nothing outside");
  EXPECT_EQ(refusal([&] { device_->synchronize(event_); }),
            "simt: synchronize: the event was recorded inside of a capture: there is no such point outside");
}

TEST_F(SimtStreams, LetOtherThreadsWorkBesideACapture) {
  const auto graph = device_->capture(a_, [&] {
    work(a_, 1);
    std::thread([&] {
      void* const block = device_->allocate(Memory::kDevice, kBytes);
      work(b_, 2);
      device_->synchronize(b_);
      device_->release(Memory::kDevice, block);
      EXPECT_EQ(refusal([&] { device_->synchronize(event_); }), "");
    }).join();
  });
  EXPECT_EQ(ran_, std::vector<int>{2});
  graph->launch(a_);
  device_->synchronize(a_);
  EXPECT_EQ(ran_, (std::vector<int>{2, 1}));
}

TEST(simt, HostThreadsShareADevice) {
  const auto device = make_device("simt", {.seed = 3});
  std::vector<std::thread> threads;
  std::vector<int> sums(4);
  for (std::size_t t = 0; t < sums.size(); ++t) {
    threads.emplace_back([&, t] {
      const Stream stream = device->make_stream();
      const Event event = device->make_event();
      for (int i = 1; i <= 100; ++i) {
        simt::enqueue(stream, [&sums, t, i] { sums[t] = 2 * sums[t] % 1000 + i; });
        device->record(event, stream);
        if (i % 7 == 0) device->synchronize(event);
      }
      device->synchronize(stream);
      device->release(event);
      device->release(stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  int want = 0;
  for (int i = 1; i <= 100; ++i) want = 2 * want % 1000 + i;
  EXPECT_EQ(sums, std::vector<int>(4, want));
}

}  // namespace
}  // namespace shoal::test
