// What the measurements share: oneDNN's own threaded matmul, the yardstick, and the clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "kernels/base/dtype.h"

namespace shoal::bench {

// The best of as many runs as fit a tenth of a second: the machine may be busy.
inline double best_seconds(const std::function<void()>& work) {
  work();
  double best = 1e9;
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - start).count() < 0.1) {
    const auto before = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - before).count());
  }
  return best;
}

// c [m,n] = a [m,k] b [k,n] by oneDNN for each slot; tags say which operand is stored transposed.
class OneDnn {
 public:
  using Tag = dnnl::memory::format_tag;
  using Type = dnnl::memory::data_type;
  OneDnn(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, Tag a, Tag b, Type result)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    const Type type = dtype == DType::kF32 ? Type::f32 : Type::bf16;
    pd_ = dnnl::matmul::primitive_desc(
        dnnl::matmul::desc({{m, k}, type, a}, {{k, n}, type, b}, {{m, n}, result, Tag::ab}), engine_);
    matmul_ = dnnl::matmul(pd_);
  }
  void run(void* c, void* a, void* b) {
    dnnl::memory am(pd_.src_desc(), engine_, a), bm(pd_.weights_desc(), engine_, b),
        cm(pd_.dst_desc(), engine_, c);
    matmul_.execute(stream_, {{DNNL_ARG_SRC, am}, {DNNL_ARG_WEIGHTS, bm}, {DNNL_ARG_DST, cm}});
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul::primitive_desc pd_;
  dnnl::matmul matmul_;
};

}  // namespace shoal::bench
