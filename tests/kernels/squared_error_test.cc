#include "kernels/reference/squared_error.h"

#include <cfloat>
#include <cmath>

#include "tests/support/array.h"
#include "tests/support/op.h"
#include "tests/support/refusals.h"

namespace shoal::test {
namespace {

enum class Form { kTrain, kInPlace, kEvaluate };
constexpr const char* kFormNames[] = {"train", "inplace", "evaluate"};

class SquaredErrorOp : public OpOf<SquaredErrorOp> {
 public:
  explicit SquaredErrorOp(Form form) : form_(form) {}

  std::string label() const override { return kFormNames[static_cast<int>(form_)]; }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    Tensor& logits = j.rows("logits", shape.labels);
    logits.elem = Elem::kF32;
    logits.role = form_ == Form::kInPlace ? Role::kInOut : Role::kIn;
    j.rows("targets", 1).elem = Elem::kF32;
    // An idle entry's is infinite, as one over no items is: its loss is 0 all the same.
    j.entry("inv_items", Elem::kF32, {j.live() > 0 ? 1.0 / (2 * j.live() + 1) : INFINITY});
    j.entry("loss", Elem::kF32, {0}).role = Role::kOut;
    j.out_per_row("row_loss");
    if (form_ == Form::kTrain) j.out("dlogits", shape.labels).elem = Elem::kF32;
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    SquaredError a;
    a.loss = lane.at<float>("loss");
    a.row_loss = lane.at<float>("row_loss");
    if (form_ != Form::kEvaluate) a.dlogits = lane.at<float>(result());
    a.logits = lane.at<const float>("logits");
    a.targets = lane.at<const float>("targets");
    a.inv_items = lane.at<const float>("inv_items");
    a.ld = lane.columns("logits");
    a.rows = lane.rows();
    call(ops.squared_error, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round) const {
    const Matrix<T> logits = matrix<T>(j, "logits"), targets = matrix<T>(j, "targets");
    const auto r = reference::squared_error<T>(logits, targets, scalar<T>(j, "inv_items"));
    // An error is a difference: what it loses follows the operands, and its square follows theirs.
    const double logit = logits.size() == 0 ? 0 : static_cast<double>(logits.cwiseAbs().maxCoeff());
    const double target = targets.size() == 0 ? 0 : static_cast<double>(targets.cwiseAbs().maxCoeff());
    const double largest = logit + target;
    Expected e;
    e.set("row_loss", r.row_loss, largest * largest);
    e.set("loss", Matrix<T>::Constant(1, 1, j.live() > 0 ? r.loss : T(0)), largest * largest);
    if (form_ != Form::kEvaluate) {
      e.set(result(), r.dlogits, 2 * largest * static_cast<double>(scalar<T>(j, "inv_items")));
    }
    return e;
  }

 private:
  const char* result() const { return form_ == Form::kInPlace ? "logits" : "dlogits"; }

  Form form_;
};

// More rows than one chunk of the sum holds, and columns beyond the one output.
const Case kOutputs{"outputs",
                    {JobShape{.lengths = {300}, .labels = 1, .seed = 91},
                     JobShape{.lengths = {129}, .labels = 3, .seed = 92}}};

std::vector<Case> cases() {
  std::vector<Case> all = standard_cases();
  all.push_back(kOutputs);
  return all;
}

SHOAL_OP_LAWS(squared_error, {{std::make_shared<SquaredErrorOp>(Form::kTrain), cases()},
                              {std::make_shared<SquaredErrorOp>(Form::kInPlace), cases()},
                              {std::make_shared<SquaredErrorOp>(Form::kEvaluate), cases()}});

// The loss of one slot with one output.
float loss_of(Device& device, const std::vector<float>& outputs, const std::vector<float>& targets,
              float inv_items) {
  std::vector<float> padded = outputs;
  padded.resize(128, 0);
  const Array<float> logits(device, padded), wanted(device, targets), inverse(device, {inv_items});
  Array<float> loss(device, {NAN}), row_loss(device, std::vector<float>(128, NAN));
  const Array<std::int32_t> slot(device, {0}), row0(device, {0, 128}),
      live(device, {static_cast<std::int32_t>(targets.size())});
  SquaredError a;
  a.loss = loss.data();
  a.row_loss = row_loss.data();
  a.logits = logits.data();
  a.targets = wanted.data();
  a.inv_items = inverse.data();
  a.ld = 1;
  a.rows = {1, 128, slot.data(), row0.data(), live.data()};
  const Stream stream = device.make_stream();
  call(device.ops().squared_error, a, stream);
  device.synchronize(stream);
  device.release(stream);
  return loss.values()[0];
}

// Micro-batches of losses (1, 1, 1) and (9), each over all four items: the mean of the window, 3, not the
// mean of means, 5.
TEST(squared_error, SumsMicroBatchesToTheMeanOfTheWindow) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const float loss = loss_of(*device, {1, 2, -1}, {2, 1, 0}, 0.25f) + loss_of(*device, {5}, {2}, 0.25f);
    EXPECT_NEAR(loss, 3.0, 4 * FLT_EPSILON) << name;  // a rounding each for four terms
  }
}

TEST(squared_error, HidesNoNaN) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    EXPECT_TRUE(std::isnan(loss_of(*device, {1, NAN}, {1, 1}, 0.5f))) << name;
    EXPECT_TRUE(std::isnan(loss_of(*device, {1, 1}, {1, NAN}, 0.5f))) << name;
  }
}

TEST(squared_error, Refuses) {
  using A = SquaredError;
  Addresses make;
  A good;
  good.loss = make.make<float>();
  good.row_loss = make.make<float>();
  good.dlogits = make.make<float>();
  good.logits = make.make<float>();
  good.targets = make.make<float>();
  good.inv_items = make.make<float>();
  good.ld = 4;
  good.rows = make.rows();
  const std::string op = "squared_error: ";
  expect_refusals<A>(&OpTable::squared_error, good,
                     {{[](A& a) { a.ld = 0; }, op + "ld: wanted 1 .. "},
                      {[](A& a) { a.loss = nullptr; }, op + "loss: wanted an address, got null"},
                      {[](A& a) { a.row_loss = nullptr; }, op + "row_loss: wanted an address, got null"},
                      {[](A& a) { a.logits = nullptr; }, op + "logits: wanted an address, got null"},
                      {[](A& a) { a.targets = nullptr; }, op + "targets: wanted an address, got null"},
                      {[](A& a) { a.inv_items = nullptr; }, op + "inv_items: wanted an address, got null"},
                      {[](A& a) { a.dlogits = const_cast<float*>(a.logits) + 64; },
                       op + "dlogits: wanted memory apart from logits"},
                      {[](A& a) { a.rows.rows = 1; }, op + "rows.rows: wanted a positive multiple of 128"}});
}

}  // namespace
}  // namespace shoal::test
