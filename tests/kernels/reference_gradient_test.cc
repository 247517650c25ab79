// Law 5: the gradients of kernels/reference against a complex step. f(x + ih) = f(x) + ih f'(x) with a
// step so small that nothing else is left, and no difference taken: the two agree to a few roundings.
// 1e-12 of the largest element leaves room for sums of some hundred terms.
#include <gtest/gtest.h>

#include <complex>
#include <functional>

#include "kernels/reference/attention.h"
#include "kernels/reference/cross_entropy.h"
#include "kernels/reference/dropout.h"
#include "kernels/reference/embedding.h"
#include "kernels/reference/layernorm.h"
#include "kernels/reference/linear.h"
#include "kernels/reference/squared_error.h"
#include "tests/support/job.h"

namespace shoal::reference {
namespace {

using Complex = std::complex<double>;
using Real = Matrix<double>;
using Step = Matrix<Complex>;

Real random(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  test::Random r(seed);
  return Real(rows, columns).unaryExpr([&](double) { return r.normal(); });
}

Step lift(const Real& m) {
  return m.cast<Complex>();
}

// sum(result o weight): a scalar whose gradient by `result` is `weight`.
Complex weigh(const Step& result, const Real& weight) {
  return result.cwiseProduct(lift(weight)).sum();
}

void expect_gradient(const Real& gradient, const Real& at, const std::function<Complex(const Step&)>& f) {
  ASSERT_EQ(gradient.rows(), at.rows());
  ASSERT_EQ(gradient.cols(), at.cols());
  const double h = 1e-40;
  Step x = lift(at);
  Real wanted(at.rows(), at.cols());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    x.data()[i] += Complex(0, h);
    wanted.data()[i] = f(x).imag() / h;
    x.data()[i] = at.data()[i];
  }
  ASSERT_GT(wanted.cwiseAbs().maxCoeff(), 0);
  EXPECT_LE((gradient - wanted).cwiseAbs().maxCoeff(), 1e-12 * wanted.cwiseAbs().maxCoeff());
}

TEST(ReferenceGradient, Linear) {
  const Real x = random(5, 6, 1), w = random(4, 6, 2), b = random(1, 4, 3), dy = random(5, 4, 4);
  const auto f = [&](const Step& x_, const Step& w_, const Step& b_) {
    return weigh(linear_forward<Complex>(x_, w_, b_), dy);
  };
  expect_gradient(linear_backward_input<double>(dy, w), x,
                  [&](const Step& s) { return f(s, lift(w), lift(b)); });
  expect_gradient(linear_backward_weight<double>(dy, x), w,
                  [&](const Step& s) { return f(lift(x), s, lift(b)); });
  expect_gradient(linear_backward_bias<double>(dy), b, [&](const Step& s) { return f(lift(x), lift(w), s); });
}

TEST(ReferenceGradient, LinearGeluLinear) {
  const Real u = 2 * random(5, 6, 5), w = random(4, 6, 6), dy = random(5, 4, 7);
  for (const GeluForm form : {GeluForm::kErf, GeluForm::kTanh}) {
    expect_gradient(linear_dgelu_backward<double>(dy, w, u, {}, form), u, [&](const Step& s) {
      const Step g = s.unaryExpr([form](Complex v) { return gelu(v, form); });
      return weigh(linear_forward<Complex>(g, lift(w), RowVector<Complex>::Zero(4)), dy);
    });
  }
}

TEST(ReferenceGradient, LinearTanh) {
  const Real x = random(3, 6, 8), w = random(4, 6, 9), b = random(1, 4, 10), dy = random(3, 4, 11);
  const Real du = tanh_backward<double>(dy, linear_tanh_forward<double>(x, w, b));
  const auto f = [&](const Step& x_, const Step& b_) {
    return weigh(linear_tanh_forward<Complex>(x_, lift(w), b_), dy);
  };
  expect_gradient(linear_backward_input<double>(du, w), x, [&](const Step& s) { return f(s, lift(b)); });
  expect_gradient(linear_backward_bias<double>(du), b, [&](const Step& s) { return f(lift(x), s); });
}

TEST(ReferenceGradient, BiasDropoutResidualLayerNorm) {
  const Real x = random(7, 16, 12), b = random(1, 16, 13), residual = random(7, 16, 14),
             dy = random(7, 16, 15);
  const Real gamma = random(1, 16, 16), beta = random(1, 16, 17);
  const double eps = 1e-3;
  const Real factors = hidden_factors<double>({.seed = 3, .threshold = dropout_threshold(0.3)}, 7, 16);
  const auto f = [&](const Step& x_, const Step& b_, const Step& residual_, const Step& gamma_,
                     const Step& beta_) {
    return weigh(
        bias_dropout_residual_layernorm_forward<Complex>(x_, b_, lift(factors), residual_, gamma_, beta_, eps)
            .y,
        dy);
  };
  const auto kept =
      bias_dropout_residual_layernorm_forward<double>(x, b, factors, residual, gamma, beta, eps);
  const auto g = layernorm_backward<double>(dy, kept.z, kept.mean, kept.rstd, gamma);
  const Real dx = g.dz.cwiseProduct(factors);
  const Step cx = lift(x), cb = lift(b), cr = lift(residual), cg = lift(gamma), ct = lift(beta);
  expect_gradient(dx, x, [&](const Step& s) { return f(s, cb, cr, cg, ct); });
  expect_gradient(dx.colwise().sum(), b, [&](const Step& s) { return f(cx, s, cr, cg, ct); });
  expect_gradient(g.dz, residual, [&](const Step& s) { return f(cx, cb, s, cg, ct); });
  expect_gradient(block_sums<double>(g.dgammas), gamma, [&](const Step& s) { return f(cx, cb, cr, s, ct); });
  expect_gradient(block_sums<double>(g.dbetas), beta, [&](const Step& s) { return f(cx, cb, cr, cg, s); });
}

TEST(ReferenceGradient, EmbeddingLayerNorm) {
  const Tokens tokens{{2, 0, 2, 4, 2}, {0, 1, 2, 0, 1}, {0, 0, 1, 1, 0}};
  const Real word = random(5, 16, 18), position = random(3, 16, 19), type = random(2, 16, 20),
             dy = random(5, 16, 21);
  const Real gamma = random(1, 16, 22), beta = random(1, 16, 23);
  const double eps = 1e-3;
  const Real factors = hidden_factors<double>({.seed = 4, .threshold = dropout_threshold(0.2)}, 5, 16);
  const auto kept = layernorm_forward<double>(embedding_sum<double>(tokens, word, position, type), gamma,
                                              beta, eps, factors);
  const Real masked = dy.cwiseProduct(factors);
  const Real dz = layernorm_backward<double>(masked, kept.z, kept.mean, kept.rstd, gamma).dz;
  const auto f = [&](const Step& w, const Step& p, const Step& t) {
    return weigh(layernorm_forward<Complex>(embedding_sum<Complex>(tokens, w, p, t), lift(gamma), lift(beta),
                                            eps, lift(factors))
                     .y,
                 dy);
  };
  const auto gradient = [&](const Real& table, const std::vector<int>& index) {
    Real d = Real::Zero(table.rows(), table.cols());
    embedding_backward<double>(d, dz, index);
    return d;
  };
  const Step cw = lift(word), cp = lift(position), ct = lift(type);
  expect_gradient(gradient(word, tokens.ids), word, [&](const Step& s) { return f(s, cp, ct); });
  expect_gradient(gradient(position, tokens.positions), position,
                  [&](const Step& s) { return f(cw, s, ct); });
  expect_gradient(gradient(type, tokens.types), type, [&](const Step& s) { return f(cw, cp, s); });
}

template <typename T>
AttentionShape<T> attention_shape() {
  const DropoutKey key{.seed = 5, .threshold = dropout_threshold(0.25)};
  AttentionShape<T> shape{
      .H = 2, .D = 4, .cu = {0, 3, 3, 4, 9}, .factors = {}, .scale = T(static_cast<float>(key.scale()))};
  shape.factors = [key](int b, int head, int length) {
    return attention_factors<T>(key, static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(head), length);
  };
  return shape;
}

TEST(ReferenceGradient, Attention) {
  const Real qkv = random(9, 24, 24), dout = random(9, 8, 25);
  const auto kept = attention_forward<double>(qkv, attention_shape<double>());
  expect_gradient(attention_backward<double>(dout, qkv, kept.o, kept.lse, attention_shape<double>()), qkv,
                  [&](const Step& s) {
                    return weigh(attention_forward<Complex>(s, attention_shape<Complex>()).o, dout);
                  });
}

TEST(ReferenceGradient, SquaredError) {
  const Real logits = 3 * random(6, 1, 27), targets = random(6, 1, 28);
  expect_gradient(squared_error<double>(logits, targets, 0.2).dlogits, logits,
                  [&](const Step& s) { return squared_error<Complex>(s, lift(targets), 0.2).loss; });
}

TEST(ReferenceGradient, CrossEntropy) {
  const Real logits = 3 * random(6, 5, 26);
  const std::vector<int> labels{0, 4, -1, 2, 2, 1};
  for (const double smoothing : {0.0, 0.1}) {
    expect_gradient(cross_entropy<double>(logits, labels, 0.2, smoothing).dlogits, logits,
                    [&](const Step& s) { return cross_entropy<Complex>(s, labels, 0.2, smoothing).loss; });
  }
}

}  // namespace
}  // namespace shoal::reference
