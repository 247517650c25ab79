// LayerNorm with what stands around it in BERT: bias, dropout, residual (Ba et al., arXiv 1607.06450).
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/base/view.h"
#include "kernels/reference/matrix.h"

namespace shoal::reference {

template <typename T>
struct Normalised {
  Matrix<T> h;        // (z - mean) rstd
  ColVector<T> mean;  // per row
  ColVector<T> rstd;
};

template <typename T>
Normalised<T> normalise(const Matrix<T>& z, T eps) {
  using std::sqrt;
  const T columns = T(static_cast<double>(z.cols()));
  Normalised<T> n;
  n.mean = z.rowwise().sum() / columns;
  const Matrix<T> centred = z.colwise() - n.mean;
  const ColVector<T> variance = centred.cwiseProduct(centred).rowwise().sum() / columns;
  n.rstd = variance.unaryExpr([eps](T v) { return T(1) / sqrt(v + eps); });
  n.h = centred.array().colwise() * n.rstd.array();
  return n;
}

template <typename T>
struct LayerNormResult {
  Matrix<T> y;
  Matrix<T> z;
  ColVector<T> mean;
  ColVector<T> rstd;
};

// z is given unrounded; `factors` multiply y (the embeddings' dropout, all ones elsewhere).
template <typename T, typename Round = Exact>
LayerNormResult<T> layernorm_forward(const Matrix<T>& z, const RowVector<T>& gamma, const RowVector<T>& beta,
                                     T eps, const Matrix<T>& factors, Round round = {}) {
  LayerNormResult<T> r;
  r.z = round(z);
  const Normalised<T> n = normalise<T>(r.z, eps);
  r.mean = n.mean;
  r.rstd = n.rstd;
  const Matrix<T> y = (n.h.array().rowwise() * gamma.array()).rowwise() + beta.array();
  r.y = round(Matrix<T>(y.cwiseProduct(factors)));
  return r;
}

template <typename T, typename Round = Exact>
LayerNormResult<T> bias_dropout_residual_layernorm_forward(
    const Matrix<T>& x, const RowVector<T>& b, const Matrix<T>& factors, const Matrix<T>& residual,
    const RowVector<T>& gamma, const RowVector<T>& beta, T eps, Round round = {}) {
  const Matrix<T> z = (x.rowwise() + b).cwiseProduct(factors) + residual;
  return layernorm_forward<T>(z, gamma, beta, eps, Matrix<T>::Ones(z.rows(), z.cols()), round);
}

template <typename T>
struct LayerNormGradient {
  Matrix<T> dz;       // unrounded
  Matrix<T> dgammas;  // per row, to be summed
  Matrix<T> dbetas;
};

// mean and rstd as the forward kept them.
template <typename T>
LayerNormGradient<T> layernorm_backward(const Matrix<T>& dy, const Matrix<T>& z, const ColVector<T>& mean,
                                        const ColVector<T>& rstd, const RowVector<T>& gamma) {
  const T columns = T(static_cast<double>(z.cols()));
  const Matrix<T> h = (z.colwise() - mean).array().colwise() * rstd.array();
  const Matrix<T> g = dy.array().rowwise() * gamma.array();
  const ColVector<T> mean_g = g.rowwise().sum() / columns;
  const ColVector<T> mean_gh = g.cwiseProduct(h).rowwise().sum() / columns;
  LayerNormGradient<T> r;
  const Matrix<T> correction = h.array().colwise() * mean_gh.array();
  r.dz = ((g.colwise() - mean_g) - correction).array().colwise() * rstd.array();
  r.dgammas = dy.cwiseProduct(h);
  r.dbetas = dy;
  return r;
}

// Column sums of each block of kRowChunk rows: one row a block, the last block may be short.
template <typename T>
Matrix<T> block_sums(const Matrix<T>& m) {
  const Eigen::Index blocks = (m.rows() + kRowChunk - 1) / kRowChunk;
  Matrix<T> sums(blocks, m.cols());
  for (Eigen::Index i = 0; i < blocks; ++i) {
    const Eigen::Index begin = i * kRowChunk, rows = std::min<Eigen::Index>(kRowChunk, m.rows() - begin);
    sums.row(i) = m.middleRows(begin, rows).colwise().sum();
  }
  return sums;
}

}  // namespace shoal::reference
