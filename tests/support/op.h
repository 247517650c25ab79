// The laws of an op (DESIGN: agreement, fences, repeat, isolation), on every device and dtype.
//
// To put a new op under them, write one file tests/kernels/<op>_test.cc with
//   1. a class derived from OpOf<itself> that tells
//        label      this instance of it, by its widths
//        job        the data of one job: job.rows(..), job.param(..), job.out(..), job.grad(..), ...
//        launch     the args, taken from a Lane by the same names, and the call of the op
//        reference  template <T, Round>: what the outputs are, by kernels/reference, of one job
//      An output that reference() leaves out must keep its bits. Data that a forward would have kept
//      goes in by job.saved(), so that the double reference takes it unrounded.
//   2. SHOAL_OP_LAWS(op, {cases}): a list of {instance, cases}; standard_cases() are a must for every
//      op, a case of a real size and what the op alone finds hard come on top.
//   3. TEST(op, Refuses): a case for each line of "Needs" (refusals.h).
// and, in tests/kernels/reference_gradient_test.cc, the complex step of its backward's reference.
// A device is put under all laws by its name in test_devices().
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/device.h"
#include "tests/support/expected.h"
#include "tests/support/lane.h"

namespace shoal::test {

class Op {
 public:
  virtual ~Op() = default;
  virtual std::string label() const = 0;  // of this instance: its widths
  virtual Job job(const JobShape& shape, DType dtype) const = 0;
  virtual void launch(Lane& lane, const OpTable& ops, Stream stream) const = 0;
  virtual Expected exact(const Job& job) const = 0;
  virtual Expected plain(const Job& job) const = 0;
  // Agreement allows twice the plain form's error and this many float epsilons of the largest value,
  // or of its terms (Expected). One: where the plain form happens to be exact, or happens to sum in a
  // luckier order, the op may still differ in the last bit. An op that asks for more says why.
  virtual double slack(const std::string& /*output*/) const { return 1; }
  // The same, beyond it, where tensor cores sum: each of their steps of 16 terms cuts the running sum toward
  // zero, by one epsilon of it at most.
  virtual double tensor_core_slack(const std::string& /*output*/) const { return 0; }
  // Its inputs per slot may have stride 0: one copy for all.
  virtual bool shares_parameters() const { return true; }
};

template <typename Derived>
class OpOf : public Op {
 public:
  Expected exact(const Job& job) const override {
    return static_cast<const Derived&>(*this).template reference<double>(job, reference::Exact{});
  }
  Expected plain(const Job& job) const override {
    return static_cast<const Derived&>(*this).template reference<float>(job, reference::RoundTo{job.dtype});
  }
};

template <typename Args>
void call(void (*function)(const Args&, Stream), const Args& args, Stream stream) {
  require(function != nullptr, "the device does not have this op yet");
  function(args, stream);
}

// Uploads the lane, runs the op, downloads what it left.
void run(Lane& lane, Device& device, const Op& op);

// What a device is tested in where one type is enough: f32, where it offers that.
inline DType own_dtype(const Device& device) {
  return device.supports(DType::kF32) ? DType::kF32 : DType::kBF16;
}

struct Case {
  std::string name;
  std::vector<JobShape> jobs;
};

// Size 1; live counts around 128; odd ones, an idle entry, empty sequences; sequences of 0, 1 and 512
// beside an idle entry; large values; every gradient mode.
std::vector<Case> standard_cases();

struct OpCases {
  std::shared_ptr<const Op> op;
  std::vector<Case> cases;
};

struct LawParam {
  std::string device;
  DType dtype = DType::kF32;
  std::shared_ptr<const Op> op;
  Case scene;
};
inline void PrintTo(const LawParam& p, std::ostream* out) {
  *out << p.op->label() << ' ' << p.scene.name;
}

std::vector<std::string> test_devices();
std::vector<LawParam> law_params(const std::vector<OpCases>& ops, const std::vector<std::string>& devices);
std::string law_name(const testing::TestParamInfo<LawParam>& info);

class OpLaws : public testing::TestWithParam<LawParam> {};
// Of the simt device alone, where the order of threads, blocks and streams can be chosen.
class OpOrders : public testing::TestWithParam<LawParam> {};

// What the kernels of the simt device move and multiply, against cost() (cost_law.cc): once per instance.
struct CostParam {
  std::shared_ptr<const Op> op;
};
inline void PrintTo(const CostParam& p, std::ostream* out) {
  *out << p.op->label();
}
std::vector<CostParam> cost_params(const std::vector<OpCases>& ops);
std::string cost_name(const testing::TestParamInfo<CostParam>& info);

class OpCosts : public testing::TestWithParam<CostParam> {};

#define SHOAL_OP_LAWS(op, ...)                                                                              \
  INSTANTIATE_TEST_SUITE_P(op, OpLaws,                                                                      \
                           testing::ValuesIn(law_params(std::vector<OpCases> __VA_ARGS__, test_devices())), \
                           law_name);                                                                       \
  INSTANTIATE_TEST_SUITE_P(                                                                                 \
      op, OpOrders, testing::ValuesIn(law_params(std::vector<OpCases> __VA_ARGS__, {"simt"})), law_name);   \
  INSTANTIATE_TEST_SUITE_P(op, OpCosts, testing::ValuesIn(cost_params(std::vector<OpCases> __VA_ARGS__)),   \
                           cost_name)

}  // namespace shoal::test
