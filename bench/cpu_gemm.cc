// GFLOP/s of the linear ops on the CPU device beside oneDNN's own threaded matmul on the same operands, in
// one run: for each dtype, shape and role, W slots of `rows` tokens each. oneDNN is called once per slot.
// Usage: cpu_gemm [threads]. The best of many short runs is shown: the machine may be busy.
#include <fmt/core.h>
#include <omp.h>

#include <cstdlib>
#include <vector>

#include "bench/onednn_matmul.h"
#include "kernels/device.h"

namespace {

using shoal::DType;
using shoal::bench::best_seconds;
using shoal::bench::OneDnn;

struct Case {
  DType dtype;
  int W, rows, N, K;
  std::size_t bytes() const { return shoal::size_of(dtype); }
};

// Operands of one case: W slots, every row live.
class Lane {
 public:
  Lane(shoal::Device& device, const Case& c) : device_(device), c_(c) {
    const int capacity = static_cast<int>(shoal::ceil128(c.rows));
    for (int w = 0; w < c.W; ++w) {
      slot_.push_back(w);
      row0_.push_back(w * capacity);
      live_.push_back(c.rows);
      mode_.push_back(shoal::GradMode::kSet);
    }
    row0_.push_back(c.W * capacity);
    rows = {c.W, c.W * std::int64_t{capacity}, slot_.data(), row0_.data(), live_.data()};
    x = block(rows.rows * c.K * c.bytes());
    y = block(rows.rows * c.N * c.bytes());
    weights = block(std::size_t(c.W) * c.N * c.K * c.bytes());
    bias = block(std::size_t(c.W) * c.N * c.bytes());
    dw = block(std::size_t(c.W) * c.N * c.K * 4);
  }
  ~Lane() {
    for (void* p : blocks_) device_.release(shoal::Memory::kDevice, p);
  }

  const shoal::GradMode* mode() const { return mode_.data(); }
  shoal::Rows rows;
  void *x, *y, *weights, *bias, *dw;

 private:
  // Small positive numbers in either dtype.
  void* block(std::size_t bytes) {
    auto* p = static_cast<std::uint16_t*>(device_.allocate(shoal::Memory::kDevice, bytes));
    for (std::size_t i = 0; i < bytes / 2; ++i) p[i] = static_cast<std::uint16_t>(0x3c00 + i * 7919 % 300);
    blocks_.push_back(p);
    return p;
  }
  shoal::Device& device_;
  const Case& c_;
  std::vector<int> slot_, row0_, live_;
  std::vector<shoal::GradMode> mode_;
  std::vector<void*> blocks_;
};

void print(const char* role, const Case& c, double ours, double theirs) {
  const double flops = 2e-9 * c.W * c.rows * c.N * c.K;
  fmt::print("{:4} {:14} W {:2} rows {:4} N {:4} K {:4}  shoal {:7.1f}  oneDNN {:7.1f} GFLOP/s  {:4.0f} %\n",
             shoal::name_of(c.dtype), role, c.W, c.rows, c.N, c.K, flops / ours, flops / theirs,
             100 * theirs / ours);
}

void measure(shoal::Device& device, shoal::Stream stream, const Case& c) {
  using Tag = OneDnn::Tag;
  Lane lane(device, c);
  const std::int64_t size = std::int64_t{c.N} * c.K, stride = lane.rows.rows / c.W;
  const auto part = [&](void* base, int w, std::int64_t elements, std::size_t element) {
    return static_cast<char*>(base) + w * elements * static_cast<std::int64_t>(element);
  };
  const auto type = c.dtype == DType::kF32 ? OneDnn::Type::f32 : OneDnn::Type::bf16;
  OneDnn forward(c.dtype, c.rows, c.N, c.K, Tag::ab, Tag::ba, type);
  OneDnn backward(c.dtype, c.rows, c.K, c.N, Tag::ab, Tag::ab, type);
  OneDnn gradient(c.dtype, c.N, c.K, c.rows, Tag::ba, Tag::ab, OneDnn::Type::f32);
  const auto each = [&](OneDnn& op, void* to, std::int64_t n_to, std::size_t size_to, void* a,
                        std::int64_t n_a, void* b, std::int64_t n_b) {
    return best_seconds([&] {
      for (int w = 0; w < c.W; ++w) {
        op.run(part(to, w, n_to, size_to), part(a, w, n_a, c.bytes()), part(b, w, n_b, c.bytes()));
      }
    });
  };

  const shoal::LinearForward f{c.dtype, lane.y, lane.x, {lane.weights, size}, {}, c.N, c.K, lane.rows};
  print("forward", c, best_seconds([&] { device.ops().linear_forward(f, stream); }),
        each(forward, lane.y, stride * c.N, c.bytes(), lane.x, stride * c.K, lane.weights, size));

  const shoal::LinearGeluForward g{c.dtype,        nullptr, lane.y, lane.x,   {lane.weights, size},
                                   {lane.bias, 0}, c.N,     c.K,    lane.rows};
  print("forward+gelu", c, best_seconds([&] { device.ops().linear_gelu_forward(g, stream); }),
        each(forward, lane.y, stride * c.N, c.bytes(), lane.x, stride * c.K, lane.weights, size));

  const shoal::LinearBackwardInput i{c.dtype, lane.x, lane.y, {lane.weights, size},
                                     false,   c.N,    c.K,    lane.rows};
  print("backward input", c, best_seconds([&] { device.ops().linear_backward_input(i, stream); }),
        each(backward, lane.x, stride * c.K, c.bytes(), lane.y, stride * c.N, lane.weights, size));

  shoal::LinearBackwardWeightGroup group;
  group.dtype = c.dtype;
  group.items = 1;
  group.item[0].dw = {static_cast<float*>(lane.dw), size, lane.mode()};
  group.item[0].dy = lane.y;
  group.item[0].x = lane.x;
  group.item[0].N = c.N;
  group.item[0].K = c.K;
  group.item[0].rows = lane.rows;
  print("weights", c, best_seconds([&] { device.ops().linear_backward_weight_group(group, stream); }),
        each(gradient, lane.dw, size, 4, lane.y, stride * c.N, lane.x, stride * c.K));
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : omp_get_num_procs();
  omp_set_num_threads(threads);
  const auto device = shoal::make_device("cpu", {threads});
  const shoal::Stream stream = device->make_stream();
  fmt::print("{}\n", device->description());
  struct Shape {
    int N, K;
  };
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    if (!device->supports(dtype)) continue;
    for (const Shape shape : {Shape{1152, 384}, {384, 384}, {1536, 384}, {384, 1536}, {1024, 256}}) {
      for (const Shape lane : {Shape{1, 448}, {8, 128}, {8, 448}, {1, 4096}}) {
        measure(*device, stream, {dtype, lane.N, lane.K, shape.N, shape.K});
      }
    }
  }
  device->release(stream);
}
