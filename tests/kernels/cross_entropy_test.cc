#include "kernels/reference/cross_entropy.h"

#include <cfloat>
#include <cmath>

#include "tests/support/array.h"
#include "tests/support/op.h"
#include "tests/support/refusals.h"

namespace shoal::test {
namespace {

enum class Form { kTrain, kInPlace, kEvaluate };
constexpr const char* kFormNames[] = {"train", "inplace", "evaluate"};

class CrossEntropyOp : public OpOf<CrossEntropyOp> {
 public:
  explicit CrossEntropyOp(Form form) : form_(form) {}

  std::string label() const override { return kFormNames[static_cast<int>(form_)]; }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    const int n = shape.labels;
    Tensor& logits = j.rows("logits", n);
    logits.elem = Elem::kF32;
    logits.role = form_ == Form::kInPlace ? Role::kInOut : Role::kIn;
    std::vector<double> labels;
    for (int i = 0; i < j.live(); ++i) labels.push_back(i % 7 == 6 ? -1 : j.data.below(n));
    j.ints("labels", std::move(labels));
    // An idle entry's is infinite, as one over no items is: its loss is 0 all the same.
    j.entry("inv_items", Elem::kF32, {j.live() > 0 ? 1.0 / (2 * j.live() + 1) : INFINITY});
    j.entry("smoothing", Elem::kF32, {shape.seed % 2 == 0 ? 0 : 0.1});
    j.entry("n", Elem::kI32, {static_cast<double>(n)});
    j.entry("loss", Elem::kF32, {0}).role = Role::kOut;
    j.out_per_row("row_loss");
    if (form_ == Form::kTrain) j.out("dlogits", n).elem = Elem::kF32;
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    CrossEntropy a;
    a.loss = lane.at<float>("loss");
    a.row_loss = lane.at<float>("row_loss");
    if (form_ != Form::kEvaluate) a.dlogits = lane.at<float>(result());
    a.logits = lane.at<const float>("logits");
    a.labels = lane.at<const std::int32_t>("labels");
    a.inv_items = lane.at<const float>("inv_items");
    a.smoothing = lane.at<const float>("smoothing");
    a.n = lane.at<const std::int32_t>("n");
    a.ld = lane.columns("logits");
    a.rows = lane.rows();
    call(ops.cross_entropy, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round) const {
    const Matrix<T> logits = matrix<T>(j, "logits");
    const auto r = reference::cross_entropy<T>(logits, integers(j, "labels"), scalar<T>(j, "inv_items"),
                                               scalar<T>(j, "smoothing"));
    // A row's loss is a difference of logits: its error follows them.
    const double largest = logits.size() == 0 ? 0 : static_cast<double>(logits.cwiseAbs().maxCoeff());
    Expected e;
    e.set("row_loss", r.row_loss, largest);
    e.set("loss", Matrix<T>::Constant(1, 1, j.live() > 0 ? r.loss : T(0)), largest);
    if (form_ != Form::kEvaluate) {
      e.set(result(), r.dlogits, largest * static_cast<double>(scalar<T>(j, "inv_items")));
    }
    return e;
  }

 private:
  const char* result() const { return form_ == Form::kInPlace ? "logits" : "dlogits"; }

  Form form_;
};

// More rows than one chunk of the sum holds, and neighbours of 2 and of 150 labels.
const Case kLabels{
    "labels",
    {JobShape{.lengths = {300}, .labels = 150, .seed = 81},
     JobShape{.lengths = {129}, .labels = 2, .seed = 82}, JobShape{.lengths = {1}, .labels = 1, .seed = 83}}};

std::vector<Case> cases() {
  std::vector<Case> all = standard_cases();
  all.push_back(kLabels);
  return all;
}

SHOAL_OP_LAWS(cross_entropy, {{std::make_shared<CrossEntropyOp>(Form::kTrain), cases()},
                              {std::make_shared<CrossEntropyOp>(Form::kInPlace), cases()},
                              {std::make_shared<CrossEntropyOp>(Form::kEvaluate), cases()}});

// One slot of `rows` rows and two labels on a device.
class Small {
 public:
  Small(Device& device, std::vector<float> logits, std::vector<std::int32_t> labels, float inv_items)
      : rows_(static_cast<std::int32_t>(labels.size())),
        logits_(device, padded(std::move(logits), 256)),
        labels_(device, labels),
        inv_items_(device, {inv_items}),
        smoothing_(device, {0}),
        n_(device, {2}),
        slot_(device, {0}),
        row0_(device, {0, 128}),
        live_(device, {rows_}),
        loss_(device, {NAN}),
        row_loss_(device, std::vector<float>(128, NAN)) {
    const Stream stream = device.make_stream();
    CrossEntropy a;
    a.loss = loss_.data();
    a.row_loss = row_loss_.data();
    a.logits = logits_.data();
    a.labels = labels_.data();
    a.inv_items = inv_items_.data();
    a.smoothing = smoothing_.data();
    a.n = n_.data();
    a.ld = 2;
    a.rows = {1, 128, slot_.data(), row0_.data(), live_.data()};
    call(device.ops().cross_entropy, a, stream);
    device.synchronize(stream);
    device.release(stream);
  }
  float loss() const { return loss_.values()[0]; }

 private:
  static std::vector<float> padded(std::vector<float> v, std::size_t n) {
    v.resize(n, 0);
    return v;
  }

  std::int32_t rows_;
  Array<float> logits_;
  Array<std::int32_t> labels_;
  Array<float> inv_items_, smoothing_;
  Array<std::int32_t> n_, slot_, row0_, live_;
  Array<float> loss_, row_loss_;
};

// The logit of the wrong label that makes a row's loss `loss` where the right label has 0.
float logit_for(double loss) {
  return static_cast<float>(std::log(std::expm1(loss)));
}

// Case 44: a window of micro-batches with losses (1, 1, 1) and (5) has loss 2, not the mean of means 3.
TEST(cross_entropy, SumsMicroBatchesToTheMeanOfTheWindow) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const float one = logit_for(1), five = logit_for(5);
    const Small first(*device, {0, one, 0, one, 0, one}, {0, 0, 0}, 0.25f),
        second(*device, {five, 0}, {1}, 0.25f);
    EXPECT_NEAR(first.loss() + second.loss(), 2.0, 4 * FLT_EPSILON)
        << name;  // a rounding each for four terms
  }
}

TEST(cross_entropy, TakesAnImpossibleOtherLabel) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    EXPECT_EQ(Small(*device, {0, -INFINITY}, {0}, 1).loss(), 0.0f) << name;
  }
}

TEST(cross_entropy, HidesNoNaN) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    EXPECT_TRUE(std::isnan(Small(*device, {0, 1, NAN, 0}, {0, 1}, 0.5f).loss())) << name;
  }
}

TEST(cross_entropy, Refuses) {
  using A = CrossEntropy;
  Addresses make;
  A good;
  good.loss = make.make<float>();
  good.row_loss = make.make<float>();
  good.dlogits = make.make<float>();
  good.logits = make.make<float>();
  good.labels = make.make<std::int32_t>();
  good.inv_items = good.smoothing = make.make<float>();
  good.n = make.make<std::int32_t>();
  good.ld = 4;
  good.rows = make.rows();
  const std::string op = "cross_entropy: ";
  expect_refusals<A>(&OpTable::cross_entropy, good,
                     {{[](A& a) { a.ld = 0; }, op + "ld: wanted 1 .. "},
                      {[](A& a) { a.loss = nullptr; }, op + "loss: wanted an address, got null"},
                      {[](A& a) { a.row_loss = nullptr; }, op + "row_loss: wanted an address, got null"},
                      {[](A& a) { a.logits = nullptr; }, op + "logits: wanted an address, got null"},
                      {[](A& a) { a.labels = nullptr; }, op + "labels: wanted an address, got null"},
                      {[](A& a) { a.inv_items = nullptr; }, op + "inv_items: wanted an address, got null"},
                      {[](A& a) { a.smoothing = nullptr; }, op + "smoothing: wanted an address, got null"},
                      {[](A& a) { a.n = nullptr; }, op + "n: wanted an address, got null"},
                      {[](A& a) { a.dlogits = const_cast<float*>(a.logits) + 16; },
                       op + "dlogits: wanted memory apart from logits"},
                      {[](A& a) { a.rows.W = 0; }, op + "rows.W: wanted at least 1, got 0"}});
}

}  // namespace
}  // namespace shoal::test
