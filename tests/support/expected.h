// From a job's tensors to the matrices of kernels/reference, and back.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/reference/matrix.h"
#include "tests/support/job.h"

namespace shoal::test {

using reference::ColVector;
using reference::Matrix;
using reference::RowVector;

// [units, columns], or another shape of as many elements.
template <typename T>
Matrix<T> matrix(const Job& job, const std::string& name, std::int64_t rows = -1) {
  const Tensor& t = job.at(name);
  const std::vector<double>& v = std::is_same_v<T, double> && !t.unrounded.empty() ? t.unrounded : t.values;
  const Eigen::Index r = rows >= 0 ? rows : job.units(t);
  const Eigen::Index c = rows >= 0 ? (rows == 0 ? 0 : static_cast<Eigen::Index>(v.size()) / rows) : t.columns;
  return Eigen::Map<const Matrix<double>>(v.data(), r, c).template cast<T>();
}

template <typename T>
RowVector<T> row_vector(const Job& job, const std::string& name) {
  return matrix<T>(job, name, 1);
}

template <typename T>
ColVector<T> col_vector(const Job& job, const std::string& name) {
  return matrix<T>(job, name).col(0);  // one column even where there are no rows
}

template <typename T>
T scalar(const Job& job, const std::string& name, std::size_t i = 0) {
  return static_cast<T>(job.at(name).values[i]);
}

inline std::vector<int> integers(const Job& job, const std::string& name) {
  const std::vector<double>& v = job.at(name).values;
  return {v.begin(), v.end()};
}

template <typename Derived>
std::vector<double> flat(const Eigen::MatrixBase<Derived>& m) {
  std::vector<double> v;
  v.reserve(static_cast<std::size_t>(m.size()));
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    for (Eigen::Index j = 0; j < m.cols(); ++j) v.push_back(static_cast<double>(m(i, j)));
  }
  return v;
}

// How large the terms of the sums in a b^T are, at most: sum of |a_ik b_jk| <= |a_i| |b_j|.
template <typename A, typename B>
double product_terms(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  if (a.size() == 0 || b.size() == 0) return 0;
  return static_cast<double>(a.rowwise().norm().maxCoeff()) *
         static_cast<double>(b.rowwise().norm().maxCoeff());
}
// The same of column sums.
template <typename A>
double column_terms(const Eigen::MatrixBase<A>& a) {
  return a.size() == 0 ? 0 : static_cast<double>(a.cwiseAbs().colwise().sum().maxCoeff());
}

// What the op's outputs should be. An output that is not in it must keep its bits.
struct Expected {
  std::map<std::string, std::vector<double>> values;
  // What was summed up to a value may be larger than the value: the sum of the terms' sizes, where an
  // op may sum in another order than the plain form and its error follows them.
  std::map<std::string, double> terms;

  template <typename Derived>
  void set(const std::string& name, const Eigen::MatrixBase<Derived>& m, double size_of_terms = 0) {
    values[name] = flat(m);
    terms[name] = size_of_terms;
  }

  // A gradient, by the job's mode: kept, set, or added to what was there.
  template <typename T>
  void set_gradient(const Job& job, const std::string& name, const Matrix<T>& m, double size_of_terms = 0) {
    if (job.skips()) return;
    set(name, job.adds() ? Matrix<T>(matrix<T>(job, name, m.rows()) + m) : m, size_of_terms);
  }
};

}  // namespace shoal::test
