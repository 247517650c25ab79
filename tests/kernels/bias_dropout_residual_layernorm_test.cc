#include <algorithm>
#include <cfloat>

#include "kernels/reference/dropout.h"
#include "kernels/reference/layernorm.h"
#include "tests/support/op.h"
#include "tests/support/refusals.h"

namespace shoal::test {
namespace {

constexpr std::uint32_t kSite = 9;
constexpr float kEps = 1e-12f;

enum class Form { kFull, kInPlace, kNoDropout, kForwardOnly };
constexpr const char* kFormNames[] = {"", "inplace", "nodropout", "forwardonly"};

template <typename T>
Matrix<T> factors_of(const Job& j, int C, Form form) {
  if (form == Form::kNoDropout) return Matrix<T>::Ones(j.live(), C);
  return reference::hidden_factors<T>(j.key(kSite), j.live(), C);
}

// The terms of the longest sums in partial.
template <typename T>
double block_terms(const reference::LayerNormGradient<T>& r) {
  const Eigen::Index rows = std::min<Eigen::Index>(kRowChunk, r.dz.rows());
  return std::max(column_terms(r.dgammas.topRows(rows)), column_terms(r.dbetas.topRows(rows)));
}

class ForwardOp : public OpOf<ForwardOp> {
 public:
  ForwardOp(int C, Form form) : C_(C), form_(form) {}

  std::string label() const override { return fmt::format("C{}{}", C_, kFormNames[static_cast<int>(form_)]); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.rows("x", C_).role = form_ == Form::kInPlace ? Role::kInOut : Role::kIn;
    j.rows("residual", C_);
    j.param("b", C_, 0.5);
    j.param_f32("gamma", C_, 0.2, 1);
    j.param_f32("beta", C_, 0.5);
    j.dropout();
    if (form_ != Form::kInPlace) j.out("y", C_);
    if (form_ == Form::kForwardOnly) return j;
    j.out("z", C_);
    j.out_per_row("mean");
    j.out_per_row("rstd");
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    BiasDropoutResidualLayerNormForward a;
    a.dtype = lane.dtype();
    a.y = lane.at(result());
    if (form_ != Form::kForwardOnly) {
      a.z = lane.at("z");
      a.stats = lane.stats();
    }
    a.x = lane.at("x");
    a.residual = lane.at("residual");
    a.b = lane.param("b");
    a.gamma = lane.param("gamma");
    a.beta = lane.param("beta");
    a.eps = kEps;
    a.C = C_;
    if (form_ != Form::kNoDropout) a.drop = lane.drop(kSite);
    a.rows = lane.rows();
    call(ops.bias_dropout_residual_layernorm_forward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const auto r = reference::bias_dropout_residual_layernorm_forward<T>(
        matrix<T>(j, "x"), row_vector<T>(j, "b"), factors_of<T>(j, C_, form_), matrix<T>(j, "residual"),
        row_vector<T>(j, "gamma"), row_vector<T>(j, "beta"), T(kEps), round);
    Expected e;
    e.set(result(), r.y);
    if (form_ == Form::kForwardOnly) return e;
    e.set("z", r.z);
    // The mean's error follows what it is the mean of.
    e.set("mean", r.mean, r.z.size() == 0 ? 0 : static_cast<double>(r.z.cwiseAbs().maxCoeff()));
    e.set("rstd", r.rstd);
    return e;
  }

 private:
  const char* result() const { return form_ == Form::kInPlace ? "x" : "y"; }

  int C_;
  Form form_;
};

class BackwardOp : public OpOf<BackwardOp> {
 public:
  BackwardOp(int C, Form form) : C_(C), form_(form) {}

  std::string label() const override { return fmt::format("C{}{}", C_, kFormNames[static_cast<int>(form_)]); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.rows("dy", C_).role = form_ == Form::kInPlace ? Role::kInOut : Role::kIn;
    j.rows("z", C_);
    const auto stats = reference::normalise<double>(matrix<double>(j, "z"), kEps);
    j.saved("mean", Elem::kF32, 1, flat(stats.mean), Tail::kUntouched);
    j.saved("rstd", Elem::kF32, 1, flat(stats.rstd), Tail::kUntouched);
    j.param_f32("gamma", C_, 0.2, 1);
    j.dropout();
    if (form_ != Form::kInPlace) j.out("dz", C_);
    j.out("dx", C_);
    j.add({.name = "partial", .place = Place::kBlock, .role = Role::kOut, .columns = 3 * C_});
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    BiasDropoutResidualLayerNormBackward a;
    a.dtype = lane.dtype();
    a.dz = lane.at(result());
    a.dx = lane.at("dx");
    a.partial = lane.at<float>("partial");
    a.dy = lane.at("dy");
    a.z = lane.at("z");
    a.stats = lane.stats();
    a.gamma = lane.param("gamma");
    a.C = C_;
    if (form_ != Form::kNoDropout) a.drop = lane.drop(kSite);
    a.rows = lane.rows();
    call(ops.bias_dropout_residual_layernorm_backward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const auto r =
        reference::layernorm_backward<T>(matrix<T>(j, "dy"), matrix<T>(j, "z"), col_vector<T>(j, "mean"),
                                         col_vector<T>(j, "rstd"), row_vector<T>(j, "gamma"));
    const Matrix<T> dx = round(Matrix<T>(r.dz.cwiseProduct(factors_of<T>(j, C_, form_))));
    Expected e;
    e.set(result(), round(r.dz));
    e.set("dx", dx);
    const Matrix<T> dgamma = reference::block_sums<T>(r.dgammas);
    Matrix<T> partial(dgamma.rows(), 3 * C_);
    partial << dgamma, reference::block_sums<T>(r.dbetas), reference::block_sums<T>(dx);
    e.set("partial", partial, block_terms(r));
    return e;
  }

 private:
  const char* result() const { return form_ == Form::kInPlace ? "dy" : "dz"; }

  int C_;
  Form form_;
};

const Case kTile{"bert_base",
                 {JobShape{.lengths = {128, 128, 44}, .seed = 51}, JobShape{.lengths = {31}, .seed = 52}}};

// A mean far above the deviation, where a one-pass variance loses everything.
const Case kOffset{
    "offset", {JobShape{.lengths = {20}, .offset = 300, .seed = 53}, JobShape{.lengths = {3}, .seed = 54}}};

// Rows of widths that a device may hold in other ways: 400 and 1040 columns leave a part of it idle.
const Case kWidth{"width", {JobShape{.lengths = {9, 28}, .seed = 55}, JobShape{.lengths = {3}, .seed = 56}}};

std::vector<Case> cases() {
  std::vector<Case> all = standard_cases();
  all.push_back(kOffset);
  return all;
}

SHOAL_OP_LAWS(bias_dropout_residual_layernorm_forward,
              {{std::make_shared<ForwardOp>(48, Form::kFull), cases()},
               {std::make_shared<ForwardOp>(128, Form::kInPlace), standard_cases()},
               {std::make_shared<ForwardOp>(16, Form::kNoDropout), standard_cases()},
               {std::make_shared<ForwardOp>(48, Form::kForwardOnly), {kOffset}},
               {std::make_shared<ForwardOp>(400, Form::kFull), {kWidth}},
               {std::make_shared<ForwardOp>(768, Form::kFull), {kTile}},
               {std::make_shared<ForwardOp>(1024, Form::kFull), {kWidth}},
               {std::make_shared<ForwardOp>(1040, Form::kInPlace), {kWidth}},
               {std::make_shared<ForwardOp>(4096, Form::kFull), {kOffset}}});
SHOAL_OP_LAWS(bias_dropout_residual_layernorm_backward,
              {{std::make_shared<BackwardOp>(48, Form::kFull), cases()},
               {std::make_shared<BackwardOp>(128, Form::kInPlace), standard_cases()},
               {std::make_shared<BackwardOp>(16, Form::kNoDropout), standard_cases()},
               {std::make_shared<BackwardOp>(400, Form::kFull), {kWidth}},
               {std::make_shared<BackwardOp>(768, Form::kFull), {kTile}},
               {std::make_shared<BackwardOp>(1024, Form::kFull), {kWidth}},
               {std::make_shared<BackwardOp>(1040, Form::kInPlace), {kWidth}},
               {std::make_shared<BackwardOp>(4096, Form::kFull), {kOffset}}});

// The statistics are of the z that was stored, so that the backward finds what it expects.
TEST(bias_dropout_residual_layernorm_forward, TakesItsStatisticsFromTheRoundedZ) {
  const ForwardOp op(48, Form::kFull);
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    if (!device->supports(DType::kBF16)) GTEST_SKIP() << name << " does not offer bf16 here";
    const Stream stream = device->make_stream();
    Lane lane(*device, {op.job({.lengths = {20}, .offset = 3}, DType::kBF16)});
    run(lane, *device, op);
    const std::vector<double> z = lane.values(0, "z");
    const auto exact = reference::normalise<double>(Eigen::Map<const Matrix<double>>(z.data(), 20, 48), kEps);
    for (Eigen::Index i = 0; i < 20; ++i) {
      const auto at = static_cast<std::size_t>(i);
      // Sums of 48 terms in float: some epsilons, where bf16's rounding of z makes thousands.
      EXPECT_NEAR(lane.values(0, "mean")[at], exact.mean(i), 16 * FLT_EPSILON * std::abs(exact.mean(i)));
      EXPECT_NEAR(lane.values(0, "rstd")[at], exact.rstd(i), 16 * FLT_EPSILON * exact.rstd(i));
    }
    device->release(stream);
  }
}

// dbias is the gradient of what was stored: nearer to the sums of the rounded dx than rounding could move it.
TEST(bias_dropout_residual_layernorm_backward, SumsTheRoundedDx) {
  constexpr int kC = 48, kRows = 100;
  const BackwardOp op(kC, Form::kFull);
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    if (!device->supports(DType::kBF16)) GTEST_SKIP() << name << " does not offer bf16 here";
    const Stream stream = device->make_stream();
    Lane lane(*device, {op.job({.lengths = {kRows}}, DType::kBF16)});
    run(lane, *device, op);
    const std::vector<double> dx = lane.values(0, "dx"), partial = lane.values(0, "partial");
    for (std::size_t c = 0; c < kC; ++c) {
      double sum = 0, terms = 0;
      for (std::size_t r = 0; r < kRows; ++r) {
        sum += dx[r * kC + c];
        terms += std::abs(dx[r * kC + c]);
      }
      // kRows additions in float, in any order: each is off by at most half an epsilon of all terms.
      EXPECT_NEAR(partial[2 * kC + c], sum, kRows * FLT_EPSILON / 2 * terms) << name << ' ' << c;
    }
    device->release(stream);
  }
}

// What is dropped is 0 even of NaN, by the contract's Dropout line: z is then the residual itself.
TEST(bias_dropout_residual_layernorm_forward, DropsNaN) {
  const ForwardOp op(48, Form::kFull);
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const Stream stream = device->make_stream();
    Job job = op.job({.lengths = {20}, .drop = 0.5}, own_dtype(*device));
    for (Tensor& t : job.tensors) {
      if (t.name == "x") t.values.assign(t.values.size(), NAN);
    }
    Lane lane(*device, {job});
    run(lane, *device, op);
    const std::vector<double> z = lane.values(0, "z"),
                              factors = flat(factors_of<double>(job, 48, Form::kFull));
    for (std::size_t i = 0; i < z.size(); ++i) {
      if (factors[i] != 0) {
        EXPECT_TRUE(std::isnan(z[i])) << name << ' ' << i;
      } else {
        EXPECT_EQ(z[i], job.at("residual").values[i]) << name << ' ' << i;
      }
    }
    device->release(stream);
  }
}

TEST(bias_dropout_residual_layernorm_forward, Refuses) {
  using A = BiasDropoutResidualLayerNormForward;
  Addresses make;
  A good;
  good.y = make.make();
  good.z = make.make();
  good.stats = make.stats();
  good.x = make.make();
  good.residual = make.make();
  good.b = good.gamma = good.beta = make.param(128);
  good.C = 48;
  good.drop = make.drop();
  good.rows = make.rows();
  const std::string op = "bias_dropout_residual_layernorm_forward: ";
  expect_refusals<A>(
      &OpTable::bias_dropout_residual_layernorm_forward, good,
      {{[](A& a) { a.C = 20; }, op + "C: wanted a positive multiple of 16, got 20"},
       {[](A& a) { a.C = 4112; }, op + "C: wanted 16 .. 4096, got 4112"},
       {[](A& a) { a.y = nullptr; }, op + "y: wanted an address, got null"},
       {[](A& a) { a.x = nullptr; }, op + "x: wanted an address, got null"},
       {[](A& a) { a.residual = nullptr; }, op + "residual: wanted an address, got null"},
       {[](A& a) { a.b.base = nullptr; }, op + "b: wanted an address, got null"},
       {[](A& a) { a.gamma.base = nullptr; }, op + "gamma: wanted an address, got null"},
       {[](A& a) { a.beta.base = nullptr; }, op + "beta: wanted an address, got null"},
       {[](A& a) { a.stats.mean = nullptr; }, op + "stats.mean: wanted an address, got null"},
       {[](A& a) { a.stats.rstd = nullptr; }, op + "stats.rstd: wanted an address, got null"},
       {[](A& a) { a.eps = -1; }, op + "eps: wanted a number >= 0, got -1"},
       {[](A& a) { a.y = const_cast<void*>(a.residual); }, op + "y: wanted memory apart from residual"},
       {[](A& a) { a.y = static_cast<std::byte*>(const_cast<void*>(a.x)) + 64; },
        op + "y: wanted memory apart from x"},
       {[](A& a) { a.z = const_cast<void*>(a.x); }, op + "z: wanted memory apart from x"},
       {[](A& a) { a.z = a.y; }, op + "z: wanted memory apart from y"},
       {[](A& a) { a.drop.site = 70000; }, op + "drop.site: wanted 0 .. 65535, got 70000"},
       {[](A& a) { a.rows.W = 0; }, op + "rows.W: wanted at least 1, got 0"}});
}

TEST(bias_dropout_residual_layernorm_backward, Refuses) {
  using A = BiasDropoutResidualLayerNormBackward;
  Addresses make;
  A good;
  good.dz = make.make();
  good.dx = make.make();
  good.partial = make.make<float>();
  good.dy = make.make();
  good.z = make.make();
  good.stats = make.stats();
  good.gamma = make.param(128);
  good.C = 48;
  good.drop = make.drop();
  good.rows = make.rows();
  const std::string op = "bias_dropout_residual_layernorm_backward: ";
  expect_refusals<A>(&OpTable::bias_dropout_residual_layernorm_backward, good,
                     {{[](A& a) { a.C = 24; }, op + "C: wanted a positive multiple of 16, got 24"},
                      {[](A& a) { a.C = 8192; }, op + "C: wanted 16 .. 4096, got 8192"},
                      {[](A& a) { a.dz = nullptr; }, op + "dz: wanted an address, got null"},
                      {[](A& a) { a.dx = nullptr; }, op + "dx: wanted an address, got null"},
                      {[](A& a) { a.partial = nullptr; }, op + "partial: wanted an address, got null"},
                      {[](A& a) { a.dy = nullptr; }, op + "dy: wanted an address, got null"},
                      {[](A& a) { a.z = nullptr; }, op + "z: wanted an address, got null"},
                      {[](A& a) { a.stats.mean = nullptr; }, op + "stats.mean: wanted an address, got null"},
                      {[](A& a) { a.gamma.base = nullptr; }, op + "gamma: wanted an address, got null"},
                      {[](A& a) { a.dx = a.dz; }, op + "dx: wanted memory apart from dz"},
                      {[](A& a) { a.dz = const_cast<void*>(a.z); }, op + "dz: wanted memory apart from z"},
                      {[](A& a) { a.drop.micro = nullptr; }, op + "drop.micro: wanted an address, got null"},
                      {[](A& a) { a.rows.rows = 64; }, op + "rows.rows: wanted a positive multiple of 128"}});
}

}  // namespace
}  // namespace shoal::test
