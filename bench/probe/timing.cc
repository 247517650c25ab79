#include "bench/probe/timing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/probe/gpu.h"

namespace shoal::probe {
namespace {

constexpr double kLeastRun = 3e-4;   // seconds of one run: the event clock ticks at about half a microsecond
constexpr double kShortCall = 1e-4;  // seconds under which launch gaps from the host would show
constexpr double kGraphRun = 4e-3;   // seconds of one graph: its own launch then counts for nothing
constexpr int kFewestCalls = 40, kMostCalls = 400;  // of one run
constexpr int kFewestRuns = 5, kMostRuns = 25;

class GraphRun {
 public:
  GraphRun(cudaStream_t stream, const Launch& launch, int calls) {
    PROBE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    try {
      for (int i = 0; i < calls; ++i) launch(stream, i);
    } catch (...) {
      cudaStreamEndCapture(stream, &graph_);  // leaves the stream usable
      cudaGraphDestroy(graph_);
      throw;
    }
    PROBE_CUDA(cudaStreamEndCapture(stream, &graph_));
    PROBE_CUDA(cudaGraphInstantiate(&exec_, graph_, 0));
    PROBE_CUDA(cudaGraphUpload(exec_, stream));
  }
  GraphRun(const GraphRun&) = delete;
  GraphRun& operator=(const GraphRun&) = delete;
  ~GraphRun() {
    if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }
  void operator()(cudaStream_t stream) const { PROBE_CUDA(cudaGraphLaunch(exec_, stream)); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

double timed(cudaStream_t stream, const Event& begin, const Event& end, const std::function<void()>& work) {
  PROBE_CUDA(cudaEventRecord(begin, stream));
  work();
  PROBE_CUDA(cudaEventRecord(end, stream));
  PROBE_CUDA(cudaEventSynchronize(end));
  return seconds_between(begin, end);
}

int runs_within(double seconds, double run) {
  return static_cast<int>(std::clamp(seconds / run, double(kFewestRuns), double(kMostRuns)));
}

}  // namespace

Spread time_calls(const PartContext& context, const Launch& launch, const TimingLimits& limits) {
  context.check_time();
  const Stream stream;
  const Event begin, end;
  launch(stream, 0);  // loads the module; its time counts nowhere
  PROBE_CUDA(cudaStreamSynchronize(stream));
  const double once = std::min(timed(stream, begin, end, [&] { launch(stream, 1); }),
                               timed(stream, begin, end, [&] { launch(stream, 2); }));
  const int calls =
      static_cast<int>(std::clamp(std::ceil(kLeastRun / std::max(once, 1e-7)), 1.0, double(kMostCalls)));
  std::vector<double> seconds;
  if (limits.graph && once < kShortCall) {
    const int nodes =
        static_cast<int>(std::clamp(kGraphRun / once, double(kFewestCalls), double(kMostCalls)));
    const GraphRun graph(stream, launch, nodes);
    graph(stream);
    const double first = timed(stream, begin, end, [&] { graph(stream); });
    for (int i = runs_within(limits.seconds, first); i > 0; --i) {
      seconds.push_back(timed(stream, begin, end, [&] { graph(stream); }) / nodes);
    }
    return spread_of(seconds);
  }
  int call = 3;
  for (int i = runs_within(limits.seconds, once * calls); i > 0; --i) {
    seconds.push_back(timed(stream, begin, end,
                            [&] {
                              for (int j = 0; j < calls; ++j) launch(stream, call++);
                            }) /
                      calls);
  }
  return spread_of(seconds);
}

}  // namespace shoal::probe
