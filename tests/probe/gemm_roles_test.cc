#include "bench/probe/gemm_roles.h"

#include <gtest/gtest.h>

#include <set>

namespace shoal::probe {
namespace {

// What a column-major library computes, as it is documented: d(i,j) = sum over k of op(a)(i,k) op(b)(k,j),
// element (i,j) of a stored matrix at i + j ld.
std::vector<double> library(const Gemm& g, const std::vector<double>& a, const std::vector<double>& b) {
  const auto at = [](const Operand& o, std::int64_t i, std::int64_t j) {
    return o.transposed ? j + i * o.ld : i + j * o.ld;
  };
  std::vector<double> d(static_cast<std::size_t>(g.d.elements()));
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      for (std::int64_t k = 0; k < g.k; ++k) d[i + j * g.d.ld] += a[at(g.a, i, k)] * b[at(g.b, k, j)];
    }
  }
  return d;
}

std::vector<double> numbers(std::int64_t count, int seed) {
  std::vector<double> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = double((i * 37 + seed * 11) % 23) - 11;
  return v;
}

TEST(GemmRoles, AColumnMajorLibraryComputesTheRowMajorProducts) {
  constexpr std::int64_t T = 3, in = 4, out = 5;
  const auto x = numbers(T * in, 1), w = numbers(out * in, 2), dy = numbers(T * out, 3);
  std::vector<double> y(T * out), dx(T * in), dw(out * in);
  for (int t = 0; t < T; ++t) {
    for (int o = 0; o < out; ++o) {
      for (int i = 0; i < in; ++i) {
        y[t * out + o] += x[t * in + i] * w[o * in + i];
        dx[t * in + i] += dy[t * out + o] * w[o * in + i];
        dw[o * in + i] += dy[t * out + o] * x[t * in + i];
      }
    }
  }
  EXPECT_EQ(library(column_major({"l", Pass::kForward, in, out}, T), w, x), y);
  EXPECT_EQ(library(column_major({"l", Pass::kDgrad, in, out}, T), w, dy), dx);
  EXPECT_EQ(library(column_major({"l", Pass::kWgrad, in, out}, T), x, dy), dw);
}

TEST(GemmRoles, AreTwelveWithTheParametersOfALayer) {
  std::set<std::string> names;
  std::int64_t weights = 0;
  for (const GemmRole& role : bert_base_roles()) {
    names.insert(role.name());
    if (role.pass == Pass::kWgrad) weights += column_major(role, 128).d.elements();
  }
  EXPECT_EQ(names.size(), 12u);
  EXPECT_EQ(weights, 12 * 768 * 768);  // 12 C^2: 84.9M over twelve layers, DESIGN section 10
}

TEST(GemmRoles, ThePassesOfARoleCostTheSame) {
  const auto roles = bert_base_roles();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(column_major(roles[i], 256).flops(4), column_major(roles[i + 4], 256).flops(4));
    EXPECT_EQ(column_major(roles[i], 256).flops(4), column_major(roles[i + 8], 256).flops(4));
  }
}

}  // namespace
}  // namespace shoal::probe
