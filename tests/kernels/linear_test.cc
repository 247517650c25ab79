#include "kernels/reference/linear.h"

#include "tests/support/op.h"
#include "tests/support/refusals.h"

namespace shoal::test {
namespace {

class LinearForwardOp : public OpOf<LinearForwardOp> {
 public:
  LinearForwardOp(int N, int K, bool bias = true) : N_(N), K_(K), bias_(bias) {}

  std::string label() const override { return fmt::format("N{}K{}{}", N_, K_, bias_ ? "" : "nobias"); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.rows("x", K_);
    j.param("w", std::int64_t{N_} * K_, 1 / std::sqrt(K_));
    j.param("b", N_, 1);
    j.out("y", N_);
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    LinearForward a;
    a.dtype = lane.dtype();
    a.y = lane.at("y");
    a.x = lane.at("x");
    a.w = lane.param("w");
    if (bias_) a.b = lane.param("b");
    a.N = N_;
    a.K = K_;
    a.rows = lane.rows();
    call(ops.linear_forward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const RowVector<T> b = bias_ ? row_vector<T>(j, "b") : RowVector<T>::Zero(N_);
    Expected e;
    const Matrix<T> x = matrix<T>(j, "x"), w = matrix<T>(j, "w", N_);
    e.set("y", reference::linear_forward<T>(x, w, b, round), product_terms(x, w));
    return e;
  }

 private:
  int N_, K_;
  bool bias_;
};

class LinearBackwardInputOp : public OpOf<LinearBackwardInputOp> {
 public:
  LinearBackwardInputOp(int N, int K, bool add) : N_(N), K_(K), add_(add) {}

  std::string label() const override { return fmt::format("N{}K{}{}", N_, K_, add_ ? "add" : ""); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.rows("dy", N_);
    j.param("w", std::int64_t{N_} * K_, 1 / std::sqrt(N_));
    if (add_) {
      j.rows("dx", K_).role = Role::kInOut;
    } else {
      j.out("dx", K_);
    }
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    LinearBackwardInput a;
    a.dtype = lane.dtype();
    a.dx = lane.at("dx");
    a.dy = lane.at("dy");
    a.w = lane.param("w");
    a.add = add_;
    a.N = N_;
    a.K = K_;
    a.rows = lane.rows();
    call(ops.linear_backward_input, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const Matrix<T> dy = matrix<T>(j, "dy"), w = matrix<T>(j, "w", N_);
    Matrix<T> dx = reference::linear_backward_input<T>(dy, w);
    if (add_) dx += matrix<T>(j, "dx");
    Expected e;
    e.set("dx", round(std::move(dx)), product_terms(dy, w.transpose()));
    return e;
  }

 private:
  int N_, K_;
  bool add_;
};

const Case kTile{"bert_base", {JobShape{.lengths = {128, 128, 44, 84}, .seed = 21}}};

SHOAL_OP_LAWS(linear_forward, {{std::make_shared<LinearForwardOp>(48, 32), standard_cases()},
                               {std::make_shared<LinearForwardOp>(16, 16, false), standard_cases()},
                               {std::make_shared<LinearForwardOp>(768, 3072), {kTile}}});
SHOAL_OP_LAWS(linear_backward_input,
              {{std::make_shared<LinearBackwardInputOp>(48, 32, false), standard_cases()},
               {std::make_shared<LinearBackwardInputOp>(16, 272, true), standard_cases()},
               {std::make_shared<LinearBackwardInputOp>(768, 3072, true), {kTile}}});

LinearForward good_forward() {
  Addresses make;
  LinearForward a;
  a.y = make.make();
  a.x = make.make();
  a.w = make.param(48 * 32);
  a.b = make.param(128);
  a.N = 48;
  a.K = 32;
  a.rows = make.rows();
  return a;
}

TEST(linear_forward, Refuses) {
  using A = LinearForward;
  expect_refusals<A>(
      &OpTable::linear_forward, good_forward(),
      {{[](A& a) { a.N = 20; }, "linear_forward: N: wanted a positive multiple of 16, got 20"},
       {[](A& a) { a.N = 0; }, "linear_forward: N: wanted a positive multiple of 16, got 0"},
       {[](A& a) { a.K = 8; }, "linear_forward: K: wanted a positive multiple of 16, got 8"},
       {[](A& a) { a.y = nullptr; }, "linear_forward: y: wanted an address, got null"},
       {[](A& a) { a.x = nullptr; }, "linear_forward: x: wanted an address, got null"},
       {[](A& a) { a.w.base = nullptr; }, "linear_forward: w: wanted an address, got null"},
       {[](A& a) { a.x = static_cast<const std::byte*>(a.x) + 32; },
        "linear_forward: x: wanted an address that is a multiple of 64, got 0x"},
       {[](A& a) { a.w.stride = 128; },
        "linear_forward: w: wanted a stride of at least 1536 that is a multiple of 128, got 128"},
       {[](A& a) { a.b.stride = 100; },
        "linear_forward: b: wanted a stride of at least 48 that is a multiple of 128, got 100"},
       {[](A& a) { a.y = const_cast<void*>(a.x); }, "linear_forward: y: wanted memory apart from x"},
       {[](A& a) { a.rows.W = 0; }, "linear_forward: rows.W: wanted at least 1, got 0"},
       {[](A& a) { a.rows.rows = 100; }, "linear_forward: rows.rows: wanted a positive multiple of 128"},
       {[](A& a) { a.rows.slot = nullptr; }, "linear_forward: rows.slot: wanted an address, got null"},
       {[](A& a) { a.rows.row0 = nullptr; }, "linear_forward: rows.row0: wanted an address, got null"},
       {[](A& a) { a.rows.live = nullptr; }, "linear_forward: rows.live: wanted an address, got null"}});
}

TEST(linear_backward_input, Refuses) {
  using A = LinearBackwardInput;
  Addresses make;
  A good;
  good.dx = make.make();
  good.dy = make.make();
  good.w = make.param(48 * 32);
  good.N = 48;
  good.K = 32;
  good.rows = make.rows();
  const std::string op = "linear_backward_input: ";
  expect_refusals<A>(&OpTable::linear_backward_input, good,
                     {{[](A& a) { a.N = 20; }, op + "N: wanted a positive multiple of 16, got 20"},
                      {[](A& a) { a.K = -16; }, op + "K: wanted a positive multiple of 16, got -16"},
                      {[](A& a) { a.dx = nullptr; }, op + "dx: wanted an address, got null"},
                      {[](A& a) { a.dy = nullptr; }, op + "dy: wanted an address, got null"},
                      {[](A& a) { a.w.base = nullptr; }, op + "w: wanted an address, got null"},
                      {[](A& a) { a.w.stride = 1500; }, op + "w: wanted a stride of at least 1536"},
                      {[](A& a) { a.dx = const_cast<void*>(a.dy); }, op + "dx: wanted memory apart from dy"},
                      {[](A& a) { a.rows.W = -1; }, op + "rows.W: wanted at least 1, got -1"}});
}

}  // namespace
}  // namespace shoal::test
