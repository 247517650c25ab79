// Softmax attention over the sequences of one slot, bidirectional, all heads.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/reference/matrix.h"

namespace shoal::reference {

// The shape of one slot's attention. Sequence b owns rows cu[b] .. cu[b+1].
template <typename T>
struct AttentionShape {
  int H = 0;
  int D = 0;
  std::vector<int> cu{0};
  // Dropout's factors of (sequence, head, length): each 0 or one scale. Empty: no dropout.
  std::function<Matrix<T>(int, int, int)> factors;
  T scale = T(1);  // of the kept ones

  int sequences() const { return static_cast<int>(cu.size()) - 1; }
  Matrix<T> mask(int b, int head, int length) const {
    return factors ? Matrix<T>(factors(b, head, length) / scale) : Matrix<T>::Ones(length, length);
  }
};

template <typename T>
struct AttentionResult {
  Matrix<T> o;    // [rows, H D]
  Matrix<T> lse;  // [rows, H]
};

// One head of one sequence: q, k, v [S,D].
template <typename T>
struct Head {
  Matrix<T> q, k, v;
  Matrix<T> scores() const { return q * k.transpose() * T(1 / std::sqrt(static_cast<double>(q.cols()))); }
};

template <typename T>
Head<T> head_of(const Matrix<T>& qkv, const AttentionShape<T>& shape, int b, int head) {
  const int begin = shape.cu[b], length = shape.cu[b + 1] - begin, C = shape.H * shape.D;
  const auto part = [&](int third) -> Matrix<T> {
    return qkv.block(begin, third * C + head * shape.D, length, shape.D);
  };
  return {part(0), part(1), part(2)};
}

template <typename T, typename Round = Exact>
AttentionResult<T> attention_forward(const Matrix<T>& qkv, const AttentionShape<T>& shape, Round round = {}) {
  using std::exp;
  using std::log;
  AttentionResult<T> r{Matrix<T>::Zero(qkv.rows(), shape.H * shape.D), Matrix<T>::Zero(qkv.rows(), shape.H)};
  for (int b = 0; b < shape.sequences(); ++b) {
    const int begin = shape.cu[b], length = shape.cu[b + 1] - begin;
    for (int head = 0; head < shape.H && length > 0; ++head) {
      const Head<T> x = head_of(qkv, shape, b, head);
      const Matrix<T> s = x.scores();
      ColVector<T> max(length);
      for (int i = 0; i < length; ++i) {
        max(i) = s(i, 0);
        for (int j = 1; j < length; ++j) {
          if (real_part(s(i, j)) > real_part(max(i))) max(i) = s(i, j);
        }
      }
      const Matrix<T> e = (s.colwise() - max).unaryExpr([](T v) { return exp(v); });
      const ColVector<T> sum = e.rowwise().sum();
      const Matrix<T> product = round(Matrix<T>(e.cwiseProduct(shape.mask(b, head, length)))) * x.v;
      r.o.block(begin, head * shape.D, length, shape.D) =
          product.array().colwise() * (sum.cwiseInverse() * shape.scale).array();
      r.lse.block(begin, head, length, 1) = max + sum.unaryExpr([](T v) { return log(v); });
    }
  }
  r.o = round(std::move(r.o));
  return r;
}

// o and lse as the forward kept them.
template <typename T, typename Round = Exact>
Matrix<T> attention_backward(const Matrix<T>& dout, const Matrix<T>& qkv, const Matrix<T>& o,
                             const Matrix<T>& lse, const AttentionShape<T>& shape, Round round = {}) {
  using std::exp;
  const int C = shape.H * shape.D;
  const T root = T(1 / std::sqrt(static_cast<double>(shape.D)));
  Matrix<T> dqkv = Matrix<T>::Zero(qkv.rows(), 3 * C);
  for (int b = 0; b < shape.sequences(); ++b) {
    const int begin = shape.cu[b], length = shape.cu[b + 1] - begin;
    for (int head = 0; head < shape.H && length > 0; ++head) {
      const Head<T> x = head_of(qkv, shape, b, head);
      const Matrix<T> dhead = dout.block(begin, head * shape.D, length, shape.D);
      const Matrix<T> ohead = o.block(begin, head * shape.D, length, shape.D);
      const ColVector<T> norm = lse.block(begin, head, length, 1);
      const Matrix<T> p = (x.scores().colwise() - norm).unaryExpr([](T v) { return exp(v); });
      const Matrix<T> m = shape.mask(b, head, length) * shape.scale;
      const ColVector<T> delta = dhead.cwiseProduct(ohead).rowwise().sum();
      const Matrix<T> mp = round(Matrix<T>(m.cwiseProduct(p)));
      const Matrix<T> dp = dhead * x.v.transpose();
      const Matrix<T> inner = m.cwiseProduct(dp).colwise() - delta;
      const Matrix<T> ds = round(Matrix<T>(p.cwiseProduct(inner)));
      dqkv.block(begin, head * shape.D, length, shape.D) = ds * x.k * root;
      dqkv.block(begin, C + head * shape.D, length, shape.D) = ds.transpose() * x.q * root;
      dqkv.block(begin, 2 * C + head * shape.D, length, shape.D) = mp.transpose() * dhead;
    }
  }
  return round(std::move(dqkv));
}

}  // namespace shoal::reference
