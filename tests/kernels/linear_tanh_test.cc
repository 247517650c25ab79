#include "kernels/reference/linear.h"
#include "tests/support/op.h"
#include "tests/support/refusals.h"

namespace shoal::test {
namespace {

class LinearTanhForwardOp : public OpOf<LinearTanhForwardOp> {
 public:
  LinearTanhForwardOp(int N, int K) : N_(N), K_(K) {}

  std::string label() const override { return fmt::format("N{}K{}", N_, K_); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.rows("x", K_);
    j.param("w", std::int64_t{N_} * K_, 1 / std::sqrt(K_));
    j.param("b", N_, 1);
    j.out("y", N_);
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    LinearTanhForward a;
    a.dtype = lane.dtype();
    a.y = lane.at("y");
    a.x = lane.at("x");
    a.w = lane.param("w");
    a.b = lane.param("b");
    a.N = N_;
    a.K = K_;
    a.rows = lane.rows();
    call(ops.linear_tanh_forward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const Matrix<T> x = matrix<T>(j, "x"), w = matrix<T>(j, "w", N_);
    Expected e;
    e.set("y", reference::linear_tanh_forward<T>(x, w, row_vector<T>(j, "b"), round), product_terms(x, w));
    return e;
  }

 private:
  int N_, K_;
};

class TanhBackwardOp : public OpOf<TanhBackwardOp> {
 public:
  TanhBackwardOp(int N, bool in_place) : N_(N), in_place_(in_place) {}

  std::string label() const override { return fmt::format("N{}{}", N_, in_place_ ? "inplace" : ""); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.rows("dy", N_).role = in_place_ ? Role::kInOut : Role::kIn;
    Tensor& y = j.rows("y", N_);
    for (double& v : y.values) v = rounded(y.elem, std::tanh(v));
    if (!in_place_) j.out("du", N_);
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    TanhBackward a;
    a.dtype = lane.dtype();
    a.du = lane.at(result());
    a.dy = lane.at("dy");
    a.y = lane.at("y");
    a.N = N_;
    a.rows = lane.rows();
    call(ops.tanh_backward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    Expected e;
    e.set(result(), reference::tanh_backward<T>(matrix<T>(j, "dy"), matrix<T>(j, "y"), round));
    return e;
  }

 private:
  const char* result() const { return in_place_ ? "dy" : "du"; }

  int N_;
  bool in_place_;
};

const Case kTile{"bert_base", {JobShape{.lengths = {32}, .seed = 23}}};

SHOAL_OP_LAWS(linear_tanh_forward, {{std::make_shared<LinearTanhForwardOp>(48, 32), standard_cases()},
                                    {std::make_shared<LinearTanhForwardOp>(768, 768), {kTile}}});
SHOAL_OP_LAWS(tanh_backward, {{std::make_shared<TanhBackwardOp>(48, false), standard_cases()},
                              {std::make_shared<TanhBackwardOp>(768, true), standard_cases()}});

TEST(linear_tanh_forward, Refuses) {
  using A = LinearTanhForward;
  Addresses make;
  A good;
  good.y = make.make();
  good.x = make.make();
  good.w = make.param(48 * 32);
  good.b = make.param(128);
  good.N = 48;
  good.K = 32;
  good.rows = make.rows();
  const std::string op = "linear_tanh_forward: ";
  expect_refusals<A>(&OpTable::linear_tanh_forward, good,
                     {{[](A& a) { a.N = 20; }, op + "N: wanted a positive multiple of 16, got 20"},
                      {[](A& a) { a.K = 20; }, op + "K: wanted a positive multiple of 16, got 20"},
                      {[](A& a) { a.y = nullptr; }, op + "y: wanted an address, got null"},
                      {[](A& a) { a.x = nullptr; }, op + "x: wanted an address, got null"},
                      {[](A& a) { a.w.base = nullptr; }, op + "w: wanted an address, got null"},
                      {[](A& a) { a.b.base = nullptr; }, op + "b: wanted an address, got null"},
                      {[](A& a) { a.y = const_cast<void*>(a.x); }, op + "y: wanted memory apart from x"},
                      {[](A& a) { a.rows.live = nullptr; }, op + "rows.live: wanted an address, got null"}});
}

TEST(tanh_backward, Refuses) {
  using A = TanhBackward;
  Addresses make;
  A good;
  good.du = make.make();
  good.dy = make.make();
  good.y = make.make();
  good.N = 48;
  good.rows = make.rows();
  const std::string op = "tanh_backward: ";
  expect_refusals<A>(&OpTable::tanh_backward, good,
                     {{[](A& a) { a.N = 20; }, op + "N: wanted a positive multiple of 16, got 20"},
                      {[](A& a) { a.du = nullptr; }, op + "du: wanted an address, got null"},
                      {[](A& a) { a.dy = nullptr; }, op + "dy: wanted an address, got null"},
                      {[](A& a) { a.y = nullptr; }, op + "y: wanted an address, got null"},
                      {[](A& a) { a.du = const_cast<void*>(a.y); }, op + "du: wanted memory apart from y"},
                      {[](A& a) { a.du = static_cast<std::byte*>(const_cast<void*>(a.dy)) + 64; },
                       op + "du: wanted memory apart from dy"},
                      {[](A& a) { a.rows.W = 0; }, op + "rows.W: wanted at least 1, got 0"}});
}

}  // namespace
}  // namespace shoal::test
