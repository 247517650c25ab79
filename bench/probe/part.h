// What a part of the probe is: a function that measures and emits lines until its slice of time is over.
// A part runs in a process of its own (runner.h), so it may throw, hang or break its CUDA context.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "bench/probe/record.h"

namespace shoal::probe {

// Thrown by check_time: what was emitted before stays.
class OutOfTime : public std::runtime_error {
 public:
  OutOfTime() : std::runtime_error("its slice of time is over") {}
};

// Thrown by the device part where nothing can be measured.
class NoGpu : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class PartContext {
 public:
  using Clock = std::chrono::steady_clock;

  PartContext(double seconds, std::string cublaslt, std::function<void(const Measure&)> emit)
      : cublaslt_path(std::move(cublaslt)),
        emit_(std::move(emit)),
        end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  double seconds_left() const { return std::chrono::duration<double>(end_ - Clock::now()).count(); }
  void check_time() const {
    if (seconds_left() <= 0) throw OutOfTime();
  }
  void emit(const Measure& measure) const { emit_(measure); }

  const std::string cublaslt_path;  // empty: the usual places

 private:
  std::function<void(const Measure&)> emit_;
  Clock::time_point end_;
};

void run_device(PartContext& context);
void run_rounding(PartContext& context);
void run_launch(PartContext& context);
void run_bandwidth(PartContext& context);
void run_ceiling(PartContext& context);
void run_gelu(PartContext& context);
void run_update(PartContext& context);
void run_cublaslt(PartContext& context);
void run_span(PartContext& context);

}  // namespace shoal::probe
