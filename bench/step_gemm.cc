// GFLOP/s that oneDNN's threaded matmul reaches over the products of one training step of a BERT encoder: the
// ceiling that a step is held against (bench/cpu_vs_torch). Nothing but the products runs, on warm operands.
// Usage: step_gemm THREADS HIDDEN INTERMEDIATE ROWS. Prints one JSON line, a figure for each dtype.
#include <fmt/core.h>
#include <omp.h>

#include <cstdlib>
#include <vector>

#include "bench/onednn_matmul.h"
#include "kernels/base/view.h"

namespace {

using shoal::DType;
using shoal::bench::best_seconds;
using shoal::bench::OneDnn;
using Tag = OneDnn::Tag;

// Seconds of y = x w^T, dx = dy w and dw = dy^T x, w [N, K].
double seconds(DType dtype, std::int64_t rows, std::int64_t N, std::int64_t K) {
  const auto type = dtype == DType::kF32 ? OneDnn::Type::f32 : OneDnn::Type::bf16;
  const auto elements = static_cast<std::size_t>(rows * std::max(N, K) + N * K);
  // bf16 1.0 in either half reads as a small number in f32 too.
  std::vector<std::uint32_t> x(elements, 0x3f803f80), y(elements, 0x3f803f80), w(elements, 0x3f803f80);
  OneDnn forward(dtype, rows, N, K, Tag::ab, Tag::ba, type);
  OneDnn backward(dtype, rows, K, N, Tag::ab, Tag::ab, type);
  OneDnn gradient(dtype, N, K, rows, Tag::ba, Tag::ab, OneDnn::Type::f32);
  return best_seconds([&] { forward.run(y.data(), x.data(), w.data()); }) +
         best_seconds([&] { backward.run(x.data(), y.data(), w.data()); }) +
         best_seconds([&] { gradient.run(w.data(), y.data(), x.data()); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: step_gemm THREADS HIDDEN INTERMEDIATE ROWS\n");
    return 2;
  }
  omp_set_num_threads(std::atoi(argv[1]));
  const std::int64_t C = std::atoi(argv[2]), F = std::atoi(argv[3]), rows = std::atoi(argv[4]);
  const double flops = 6.0 * static_cast<double>(rows * (4 * C * C + 2 * C * F));
  const auto speed = [&](DType dtype) {
    return 1e-9 * flops /
           (seconds(dtype, rows, 3 * C, C) + seconds(dtype, rows, C, C) + seconds(dtype, rows, F, C) +
            seconds(dtype, rows, C, F));
  };
  fmt::print("{{\"fp32\": {:.1f}, \"bf16\": {:.1f}}}\n", speed(DType::kF32), speed(DType::kBF16));
}
