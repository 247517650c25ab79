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
      Lane lane(*device, {op.job({.lengths = {100}}, own_dtype(*device))});
      run(lane, *device, op);
      g[with_u] = lane.bits(0).at("g");
    }
    EXPECT_TRUE(g[0] == g[1]) << name;
    device->release(stream);
  }
}

// gelu and gelu' of chosen values, which bf16 holds, on a device: w = I, so that u = x and du = gelu'(u).
class Elementwise {
 public:
  Elementwise(Device& device, const std::vector<float>& values, GeluForm form) {
    if (own_dtype(device) == DType::kF32) {
      fill<float>(device, values, form);
    } else {
      fill<bf16>(device, values, form);
    }
  }
  std::vector<float> gelu, derivative;

 private:
  template <typename T>
  void fill(Device& device, const std::vector<float>& values, GeluForm form) {
    constexpr int kWidth = 16;
    std::vector<T> x(128 * kWidth, T(0.0f)), identity(kWidth * kWidth, T(0.0f)), ones(128 * kWidth, T(1.0f));
    for (std::size_t i = 0; i < values.size(); ++i) x[i] = T(values[i]);
    for (int i = 0; i < kWidth; ++i) identity[static_cast<std::size_t>(i * kWidth + i)] = T(1.0f);
    const Array<T> in(device, x), w(device, identity), one(device, ones),
        b(device, std::vector<T>(kWidth, T(0.0f)));
    Array<T> g(device, x), du(device, x);
    const Array<std::int32_t> slot(device, {0}), row0(device, {0, 128}), live(device, {1});
    const Rows rows{1, 128, slot.data(), row0.data(), live.data()};
    const Stream stream = device.make_stream();
    call(device.ops().linear_gelu_forward,
         LinearGeluForward{.dtype = DTypeOf<T>::value,
                           .g = g.data(),
                           .x = in.data(),
                           .w = {w.data(), kWidth * kWidth},
                           .b = {b.data(), 128},
                           .N = kWidth,
                           .K = kWidth,
                           .rows = rows,
                           .form = form},
         stream);
    call(device.ops().linear_dgelu_backward,
         LinearDgeluBackward{.dtype = DTypeOf<T>::value,
                             .du = du.data(),
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
    for (const T value : g.values()) gelu.push_back(static_cast<float>(value));
    for (const T value : du.values()) derivative.push_back(static_cast<float>(value));
  }
};

// Case 40, to the six digits that it names: an approximation of one form by the other would show. In bf16, to
// half a unit in the last place and what linear_gelu.h leaves to gelu itself.
TEST(linear_gelu_forward, Case40FormsDiffer) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const double relative = own_dtype(*device) == DType::kF32 ? 0 : 0x1p-8 + 0x1p-12;
    const Elementwise erf(*device, {-3, 2}, GeluForm::kErf), tanh(*device, {-3, 2}, GeluForm::kTanh);
    const auto near = [&](float got, double want) {
      EXPECT_NEAR(got, want, 5e-7 + relative * std::abs(want)) << name;
    };
    near(erf.gelu[0], -0.004050);
    near(tanh.gelu[0], -0.003637);
    near(erf.gelu[1], 1.954500);
    near(tanh.gelu[1], 1.954598);
    EXPECT_NE(erf.gelu[0], tanh.gelu[0]) << name;
  }
}

// Far from zero both forms are 0 or u, with slopes 0 and 1; nothing overflows on the way.
TEST(linear_gelu_forward, FormsEndAtZeroAndAtU) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    for (const GeluForm form : {GeluForm::kErf, GeluForm::kTanh}) {
      const std::vector<float> far = {20, 40, 0x1p20f, 0x1p50f};
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
    run(lane, *device, op);
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
