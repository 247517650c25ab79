// The twelve GEMMs of a BERT-base layer, and how each is told to a column-major library (CUDA_NOTES 1.1):
// a row-major [R,C] matrix is a column-major C x R matrix with leading dimension C.
//
// x [T,in], w [out,in], y = x w^T [T,out], dy [T,out]:
//   forward  y  = x w^T     dgrad  dx = dy w     wgrad  dw = dy^T x (f32)
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace shoal::probe {

enum class Pass { kForward, kDgrad, kWgrad };

// One stored matrix as the library sees it, before any transposition.
struct Operand {
  std::int64_t rows = 0, cols = 0, ld = 0;
  bool transposed = false;
  std::int64_t elements() const { return ld * cols; }
};

struct GemmRole {
  const char* layer;  // qkv, attention_output, ffn1, ffn2
  Pass pass;
  std::int64_t in, out;

  std::string name() const;  // "ffn1.wgrad"
  bool f32_result() const { return pass == Pass::kWgrad; }
  // Whether the operand is a job's weights: the other operands hold T rows of activations.
  bool weights_first() const { return pass != Pass::kWgrad; }
};

struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  Operand a, b, d;
  double flops(int batch) const { return 2.0 * double(m) * double(n) * double(k) * batch; }
};

std::vector<GemmRole> bert_base_roles();
Gemm column_major(const GemmRole& role, std::int64_t tokens);

constexpr std::array<int, 5> kTokenBuckets{256, 512, 1024, 4096, 16384};
constexpr std::array<int, 3> kBatches{1, 4, 16};

}  // namespace shoal::probe
