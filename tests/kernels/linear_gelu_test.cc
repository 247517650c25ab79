#include "kernels/reference/linear.h"
#include "tests/support/array.h"
#include "tests/support/op.h"
#include "tests/support/refusals.h"

namespace shoal::test {
namespace {

class LinearGeluForwardOp : public OpOf<LinearGeluForwardOp> {
 public:
  LinearGeluForwardOp(int N, int K, bool with_u, GeluForm form = GeluForm::kErf)
      : N_(N), K_(K), with_u_(with_u), form_(form) {}

  std::string label() const override {
    return fmt::format("N{}K{}{}{}", N_, K_, with_u_ ? "" : "g", form_ == GeluForm::kTanh ? "tanh" : "");
  }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.rows("x", K_);
    j.param("w", std::int64_t{N_} * K_, 1 / std::sqrt(K_));
    j.param("b", N_, 1);
    j.out("g", N_);
    if (with_u_) j.out("u", N_);
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    LinearGeluForward a;
    a.dtype = lane.dtype();
    if (with_u_) a.u = lane.at("u");
    a.g = lane.at("g");
    a.x = lane.at("x");
    a.w = lane.param("w");
    a.b = lane.param("b");
    a.N = N_;
    a.K = K_;
    a.rows = lane.rows();
    a.form = form_;
    call(ops.linear_gelu_forward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const Matrix<T> x = matrix<T>(j, "x"), w = matrix<T>(j, "w", N_);
    const auto r = reference::linear_gelu_forward<T>(x, w, row_vector<T>(j, "b"), round, form_);
    Expected e;
    if (with_u_) e.set("u", r.u, product_terms(x, w));
    e.set("g", r.g, product_terms(x, w));
    return e;
  }

 private:
  int N_, K_;
  bool with_u_;
  GeluForm form_;
};

class LinearDgeluBackwardOp : public OpOf<LinearDgeluBackwardOp> {
 public:
  LinearDgeluBackwardOp(int N, int K, bool in_place, GeluForm form = GeluForm::kErf)
      : N_(N), K_(K), in_place_(in_place), form_(form) {}

  std::string label() const override {
    return fmt::format("N{}K{}{}{}", N_, K_, in_place_ ? "inplace" : "",
                       form_ == GeluForm::kTanh ? "tanh" : "");
  }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.rows("dy", N_);
    j.rows("u", K_).role = in_place_ ? Role::kInOut : Role::kIn;
    j.param("w", std::int64_t{N_} * K_, 1 / std::sqrt(N_));
    if (!in_place_) j.out("du", K_);
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    LinearDgeluBackward a;
    a.dtype = lane.dtype();
    a.du = lane.at(result());
    a.dy = lane.at("dy");
    a.u = lane.at("u");
    a.w = lane.param("w");
    a.N = N_;
    a.K = K_;
    a.rows = lane.rows();
    a.form = form_;
    call(ops.linear_dgelu_backward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const Matrix<T> dy = matrix<T>(j, "dy"), w = matrix<T>(j, "w", N_);
    Expected e;
    e.set(result(), reference::linear_dgelu_backward<T>(dy, w, matrix<T>(j, "u"), round, form_),
          product_terms(dy, w.transpose()));
    return e;
  }

 private:
  const char* result() const { return in_place_ ? "u" : "du"; }

  int N_, K_;
  bool in_place_;
  GeluForm form_;
};

const Case kTile{"bert_base", {JobShape{.lengths = {128, 128, 44}, .seed = 22}}};

SHOAL_OP_LAWS(linear_gelu_forward,
              {{std::make_shared<LinearGeluForwardOp>(64, 32, true), standard_cases()},
               {std::make_shared<LinearGeluForwardOp>(16, 48, false), standard_cases()},
               {std::make_shared<LinearGeluForwardOp>(64, 32, true, GeluForm::kTanh), standard_cases()},
               {std::make_shared<LinearGeluForwardOp>(3072, 768, true), {kTile}}});
SHOAL_OP_LAWS(linear_dgelu_backward,
              {{std::make_shared<LinearDgeluBackwardOp>(32, 64, false), standard_cases()},
               {std::make_shared<LinearDgeluBackwardOp>(16, 48, true), standard_cases()},
               {std::make_shared<LinearDgeluBackwardOp>(32, 64, false, GeluForm::kTanh), standard_cases()},
               {std::make_shared<LinearDgeluBackwardOp>(768, 3072, false), {kTile}}});

// u given or not, g has the same bits: it may be recomputed from u.
TEST(linear_gelu_forward, GivesTheSameBitsWithoutU) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const Stream stream = device->make_stream();
    std::vector<std::byte> g[2];
    for (const bool with_u : {false, true}) {
      const LinearGeluForwardOp op(64, 32, with_u);
      Lane lane(*device, {op.job({.lengths = {100}}, DType::kF32)});
      lane.upload();
      op.launch(lane, device->ops(), stream);
      lane.download();
      g[with_u] = lane.bits(0).at("g");
    }
    EXPECT_TRUE(g[0] == g[1]) << name;
    device->release(stream);
  }
}

// gelu and gelu' of chosen values on a device, in f32: w = I, so that u = x and du = gelu'(u).
class Elementwise {
 public:
  Elementwise(Device& device, std::vector<float> values, GeluForm form) {
    constexpr int kWidth = 16;
    std::vector<float> x(128 * kWidth, 0), identity(kWidth * kWidth, 0), ones(128 * kWidth, 1);
    std::copy(values.begin(), values.end(), x.begin());
    for (int i = 0; i < kWidth; ++i) identity[static_cast<std::size_t>(i * kWidth + i)] = 1;
    const Array<float> in(device, x), w(device, identity), one(device, ones),
        b(device, std::vector<float>(kWidth, 0));
    Array<float> g(device, x), du(device, x);
    const Array<std::int32_t> slot(device, {0}), row0(device, {0, 128}), live(device, {1});
    const Rows rows{1, 128, slot.data(), row0.data(), live.data()};
    const Stream stream = device.make_stream();
    call(device.ops().linear_gelu_forward,
         LinearGeluForward{.g = g.data(),
                           .x = in.data(),
                           .w = {w.data(), kWidth * kWidth},
                           .b = {b.data(), 128},
                           .N = kWidth,
                           .K = kWidth,
                           .rows = rows,
                           .form = form},
         stream);
    call(device.ops().linear_dgelu_backward,
         LinearDgeluBackward{.du = du.data(),
                             .dy = one.data(),
                             .u = in.data(),
                             .w = {w.data(), kWidth * kWidth},
                             .N = kWidth,
                             .K = kWidth,
                             .rows = rows,
                             .form = form},
         stream);
    device.synchronize(stream);
    device.release(stream);
    gelu = g.values();
    derivative = du.values();
  }
  std::vector<float> gelu, derivative;
};

// Case 40, to the six digits that it names: an approximation of one form by the other would show.
TEST(linear_gelu_forward, Case40FormsDiffer) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const Elementwise erf(*device, {-3, 2}, GeluForm::kErf), tanh(*device, {-3, 2}, GeluForm::kTanh);
    EXPECT_NEAR(erf.gelu[0], -0.004050, 5e-7) << name;
    EXPECT_NEAR(tanh.gelu[0], -0.003637, 5e-7) << name;
    EXPECT_NEAR(erf.gelu[1], 1.954500, 5e-7) << name;
    EXPECT_NEAR(tanh.gelu[1], 1.954598, 5e-7) << name;
  }
}

// Far from zero both forms are 0 or u, with slopes 0 and 1; nothing overflows on the way.
TEST(linear_gelu_forward, FormsEndAtZeroAndAtU) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    for (const GeluForm form : {GeluForm::kErf, GeluForm::kTanh}) {
      const std::vector<float> far = {20, 40, 1e6f, 1e15f};
      for (std::size_t i = 0; i < far.size(); ++i) {
        const Elementwise e(*device, {far[i], -far[i]}, form);
        EXPECT_EQ(e.gelu[0], far[i]) << name;
        EXPECT_EQ(e.derivative[0], 1) << name << " " << far[i];
        EXPECT_NEAR(e.gelu[1], 0, 1e-15) << name << " " << far[i];
        EXPECT_NEAR(e.derivative[1], 0, 1e-15) << name << " " << far[i];
      }
    }
    const Elementwise nan(*device, {NAN}, GeluForm::kTanh);
    EXPECT_TRUE(std::isnan(nan.gelu[0]) && std::isnan(nan.derivative[0])) << name;
  }
}

// g is made of the rounded u: half a unit in its last place away from gelu(u), no more. (Agreement with
// double cannot tell: a g of the unrounded sum is nearer to it.)
TEST(linear_gelu_forward, RoundsUBeforeGelu) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    if (!device->supports(DType::kBF16)) GTEST_SKIP() << name << " does not offer bf16 here";
    const Stream stream = device->make_stream();
    const LinearGeluForwardOp op(64, 32, true);
    Lane lane(*device, {op.job({.lengths = {100}}, DType::kBF16)});
    lane.upload();
    op.launch(lane, device->ops(), stream);
    lane.download();
    const std::vector<double> u = lane.values(0, "u"), g = lane.values(0, "g");
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double half_place = g[i] == 0 ? 0 : std::exp2(std::floor(std::log2(std::abs(g[i]))) - 8);
      const double coarse = std::abs(g[i]) * 0x1p-12;  // what linear_gelu.h leaves to gelu itself
      ASSERT_NEAR(g[i], reference::gelu(u[i]), half_place + coarse) << name << ", u " << u[i];
    }
    device->release(stream);
  }
}

TEST(linear_gelu_forward, Refuses) {
  using A = LinearGeluForward;
  Addresses make;
  A good;
  good.u = make.make();
  good.g = make.make();
  good.x = make.make();
  good.w = make.param(48 * 32);
  good.b = make.param(128);
  good.N = 48;
  good.K = 32;
  good.rows = make.rows();
  const std::string op = "linear_gelu_forward: ";
  expect_refusals<A>(
      &OpTable::linear_gelu_forward, good,
      {{[](A& a) { a.N = 20; }, op + "N: wanted a positive multiple of 16, got 20"},
       {[](A& a) { a.K = 20; }, op + "K: wanted a positive multiple of 16, got 20"},
       {[](A& a) { a.g = nullptr; }, op + "g: wanted an address, got null"},
       {[](A& a) { a.x = nullptr; }, op + "x: wanted an address, got null"},
       {[](A& a) { a.u = static_cast<std::byte*>(a.u) + 4; }, op + "u: wanted an address that is"},
       {[](A& a) { a.w.base = nullptr; }, op + "w: wanted an address, got null"},
       {[](A& a) { a.b.base = nullptr; }, op + "b: wanted an address, got null"},
       {[](A& a) { a.g = a.u; }, op + "u: wanted memory apart from g"},
       {[](A& a) { a.g = const_cast<void*>(a.x); }, op + "g: wanted memory apart from x"},
       {[](A& a) { a.u = const_cast<void*>(a.x); }, op + "u: wanted memory apart from x"},
       {[](A& a) { a.form = static_cast<GeluForm>(2); }, op + "form: wanted"},
       {[](A& a) { a.rows.rows = 1; }, op + "rows.rows: wanted a positive multiple of 128"}});
}

TEST(linear_dgelu_backward, Refuses) {
  using A = LinearDgeluBackward;
  Addresses make;
  A good;
  good.du = make.make();
  good.dy = make.make();
  good.u = make.make();
  good.w = make.param(48 * 32);
  good.N = 48;
  good.K = 32;
  good.rows = make.rows();
  const std::string op = "linear_dgelu_backward: ";
  expect_refusals<A>(&OpTable::linear_dgelu_backward, good,
                     {{[](A& a) { a.N = 24; }, op + "N: wanted a positive multiple of 16, got 24"},
                      {[](A& a) { a.K = 24; }, op + "K: wanted a positive multiple of 16, got 24"},
                      {[](A& a) { a.du = nullptr; }, op + "du: wanted an address, got null"},
                      {[](A& a) { a.dy = nullptr; }, op + "dy: wanted an address, got null"},
                      {[](A& a) { a.u = nullptr; }, op + "u: wanted an address, got null"},
                      {[](A& a) { a.w.base = nullptr; }, op + "w: wanted an address, got null"},
                      {[](A& a) { a.du = const_cast<void*>(a.dy); }, op + "du: wanted memory apart from dy"},
                      {[](A& a) { a.du = static_cast<std::byte*>(const_cast<void*>(a.u)) + 64; },
                       op + "du: wanted memory apart from u"},
                      {[](A& a) { a.form = static_cast<GeluForm>(-1); }, op + "form: wanted"},
                      {[](A& a) { a.rows.W = 0; }, op + "rows.W: wanted at least 1, got 0"}});
}

}  // namespace
}  // namespace shoal::test
