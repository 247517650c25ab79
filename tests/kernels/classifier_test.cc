#include "kernels/reference/linear.h"
#include "tests/support/op.h"
#include "tests/support/refusals.h"

namespace shoal::test {
namespace {

class ForwardOp : public OpOf<ForwardOp> {
 public:
  explicit ForwardOp(int C) : C_(C) {}

  std::string label() const override { return fmt::format("C{}", C_); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    const int n = shape.labels;
    j.rows("x", C_);
    j.param("b", n, 1);
    j.param("w", std::int64_t{n} * C_, 1 / std::sqrt(C_));
    j.entry("n", Elem::kI32, {static_cast<double>(n)});
    j.out("logits", n).elem = Elem::kF32;
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    ClassifierForward a;
    a.dtype = lane.dtype();
    a.logits = lane.at<float>("logits");
    a.x = lane.at("x");
    a.w = lane.param("w");
    a.b = lane.param("b");
    a.n = lane.at<const std::int32_t>("n");
    a.ld = lane.columns("logits");
    a.C = C_;
    a.rows = lane.rows();
    call(ops.classifier_forward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round) const {
    const Matrix<T> x = matrix<T>(j, "x"), w = matrix<T>(j, "w", j.shape.labels);
    Expected e;
    e.set("logits", reference::linear_forward<T>(x, w, row_vector<T>(j, "b")), product_terms(x, w));
    return e;
  }

 private:
  int C_;
};

class BackwardOp : public OpOf<BackwardOp> {
 public:
  // frozen: its weights and biases are, so that dx alone is made.
  explicit BackwardOp(int C, bool frozen = false) : C_(C), frozen_(frozen) {}

  std::string label() const override { return fmt::format("C{}{}", C_, frozen_ ? "frozen" : ""); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    const int n = shape.labels;
    j.rows("x", C_);
    Tensor dlogits{.name = "dlogits", .columns = n};
    for (int i = 0; i < j.live() * n; ++i) dlogits.values.push_back(rounded(Elem::kF32, j.data.normal()));
    j.add(std::move(dlogits));
    j.param("w", std::int64_t{n} * C_, 1 / std::sqrt(n));
    j.entry("n", Elem::kI32, {static_cast<double>(n)});
    j.out("dx", C_);
    if (frozen_) return j;
    j.grad("dw", std::int64_t{n} * C_);
    j.grad("db", n);
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    ClassifierBackward a;
    a.dtype = lane.dtype();
    a.dx = lane.at("dx");
    if (!frozen_) {
      a.dw = lane.grad("dw");
      a.db = lane.grad("db");
    }
    a.dlogits = lane.at<const float>("dlogits");
    a.x = lane.at("x");
    a.w = lane.param("w");
    a.n = lane.at<const std::int32_t>("n");
    a.ld = lane.columns("dlogits");
    a.C = C_;
    a.rows = lane.rows();
    call(ops.classifier_backward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const Matrix<T> x = matrix<T>(j, "x"), w = matrix<T>(j, "w", j.shape.labels),
                    dlogits = matrix<T>(j, "dlogits");
    Expected e;
    e.set("dx", reference::linear_backward_input<T>(dlogits, w, round),
          product_terms(dlogits, w.transpose()));
    if (frozen_) return e;
    e.set_gradient<T>(j, "dw", reference::linear_backward_weight<T>(dlogits, x),
                      product_terms(dlogits.transpose(), x.transpose()));
    e.set_gradient<T>(j, "db", reference::linear_backward_bias<T>(dlogits), column_terms(dlogits));
    return e;
  }

 private:
  int C_;
  bool frozen_;
};

// Neighbours of 2 and of 150 labels, as in one lane of real jobs.
const Case kLabels{
    "labels",
    {JobShape{.lengths = {30}, .labels = 150, .seed = 71}, JobShape{.lengths = {33}, .labels = 2, .seed = 72},
     JobShape{.lengths = {1}, .labels = 17, .mode = GradMode::kAdd, .seed = 73}}};

// A label for each token: more chunks of rows than a block of threads has warps. And a regression's one
// output, and more labels than a block has threads.
const Case kRows{"rows",
                 {JobShape{.lengths = {512, 512, 130}, .labels = 9, .mode = GradMode::kAdd, .seed = 74},
                  JobShape{.lengths = {129}, .labels = 1, .seed = 75},
                  JobShape{.lengths = {2}, .labels = 520, .seed = 76}}};

std::vector<Case> cases() {
  std::vector<Case> all = standard_cases();
  all.push_back(kLabels);
  return all;
}

SHOAL_OP_LAWS(classifier_forward, {{std::make_shared<ForwardOp>(48), cases()},
                                   {std::make_shared<ForwardOp>(272), {kRows}},
                                   {std::make_shared<ForwardOp>(768), {kLabels}}});
SHOAL_OP_LAWS(classifier_backward, {{std::make_shared<BackwardOp>(48), cases()},
                                    {std::make_shared<BackwardOp>(48, true), {kLabels}},
                                    {std::make_shared<BackwardOp>(272), {kRows}},
                                    {std::make_shared<BackwardOp>(768), {kLabels}}});

// The same weights among more labels give the same logits.
TEST(classifier_forward, GivesALabelTheSameLogitAmongMore) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const Stream stream = device->make_stream();
    const ForwardOp op(48);
    std::vector<std::vector<double>> logits;
    for (const int labels : {2, 150}) {
      Job job = op.job({.lengths = {3}, .labels = labels}, own_dtype(*device));
      for (Tensor& t : job.tensors) {
        for (std::size_t i = 0; t.place == Place::kSlot && i < t.values.size(); ++i) {
          t.values[i] = rounded(t.elem, std::sin(static_cast<double>(i)));
        }
      }
      Lane lane(*device, {job});
      run(lane, *device, op);
      logits.push_back(lane.values(0, "logits"));
    }
    for (std::size_t row = 0; row < 3; ++row) {
      EXPECT_EQ(logits[0][2 * row], logits[1][150 * row]) << name;
      EXPECT_EQ(logits[0][2 * row + 1], logits[1][150 * row + 1]) << name;
    }
    device->release(stream);
  }
}

TEST(classifier_forward, Refuses) {
  using A = ClassifierForward;
  Addresses make;
  A good;
  good.logits = make.make<float>();
  good.x = make.make();
  good.w = make.param(384);
  good.b = make.param(128);
  good.n = make.make<std::int32_t>();
  good.ld = 3;
  good.C = 48;
  good.rows = make.rows();
  const std::string op = "classifier_forward: ";
  expect_refusals<A>(&OpTable::classifier_forward, good,
                     {{[](A& a) { a.C = 20; }, op + "C: wanted a positive multiple of 16, got 20"},
                      {[](A& a) { a.ld = 0; }, op + "ld: wanted 1 .. "},
                      {[](A& a) { a.logits = nullptr; }, op + "logits: wanted an address, got null"},
                      {[](A& a) { a.x = nullptr; }, op + "x: wanted an address, got null"},
                      {[](A& a) { a.w.base = nullptr; }, op + "w: wanted an address, got null"},
                      {[](A& a) { a.b.base = nullptr; }, op + "b: wanted an address, got null"},
                      {[](A& a) { a.n = nullptr; }, op + "n: wanted an address, got null"},
                      {[](A& a) { a.rows.W = 0; }, op + "rows.W: wanted at least 1, got 0"}});
}

TEST(classifier_backward, Refuses) {
  using A = ClassifierBackward;
  Addresses make;
  A good;
  good.dx = make.make();
  good.dw = make.grad(384);
  good.db = make.grad(128);
  good.dlogits = make.make<float>();
  good.x = make.make();
  good.w = make.param(384);
  good.n = make.make<std::int32_t>();
  good.ld = 3;
  good.C = 48;
  good.rows = make.rows();
  const std::string op = "classifier_backward: ";
  expect_refusals<A>(&OpTable::classifier_backward, good,
                     {{[](A& a) { a.C = 20; }, op + "C: wanted a positive multiple of 16, got 20"},
                      {[](A& a) { a.ld = -3; }, op + "ld: wanted 1 .. "},
                      {[](A& a) { a.dx = nullptr; }, op + "dx: wanted an address, got null"},
                      {[](A& a) { a.dlogits = nullptr; }, op + "dlogits: wanted an address, got null"},
                      {[](A& a) { a.x = nullptr; }, op + "x: wanted an address, got null"},
                      {[](A& a) { a.w.base = nullptr; }, op + "w: wanted an address, got null"},
                      {[](A& a) { a.n = nullptr; }, op + "n: wanted an address, got null"},
                      {[](A& a) { a.dw.mode = nullptr; }, op + "dw.mode: wanted an address, got null"},
                      {[](A& a) { a.db.stride = 64; }, op + "db: wanted a stride of at least 1"},
                      {[](A& a) { a.dx = const_cast<void*>(a.x); }, op + "dx: wanted memory apart from x"},
                      {[](A& a) { a.rows.rows = 3; }, op + "rows.rows: wanted a positive multiple of 128"}});
}

}  // namespace
}  // namespace shoal::test
