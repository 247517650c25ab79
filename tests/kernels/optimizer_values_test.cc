// The optimizer on a few numbers: first steps, clipping, what is not finite, capacities.
#include <cfloat>
#include <cmath>

#include "tests/support/array.h"
#include "tests/support/op.h"

namespace shoal::test {
namespace {

// Rows of one tensor of a few elements each, R = W.
class Small {
 public:
  Small(Device& device, const std::vector<std::vector<float>>& gradients, std::int64_t capacity = 128)
      : device_(device),
        W_(static_cast<int>(gradients.size())),
        stride_(round_up(capacity, 128)),
        span_(device, {ParamSpan{0, 0, capacity, 0, 0}}),
        chunk_(device, {ParamChunk{}}),
        own_(device,
             std::vector<std::int64_t>(gradients.size(), static_cast<std::int64_t>(gradients[0].size()))),
        slot_(device, {0, 1, 2, 3}),
        update_(device, {1, 1, 1, 1}),
        nonfinite_(device, {0, 0, 0, 0}),
        norm_(device, {NAN, NAN, NAN, NAN}),
        coef_(device, {1, 1, 1, 1}),
        partial_(device, {NAN, NAN, NAN, NAN}),
        grad_(device, rows_of(gradients, NAN)),
        p_(device, rows_of({}, 0)),
        m_(device, rows_of({}, 0)),
        v_(device, rows_of({}, 0)) {}

  void norm(float max_norm, const std::vector<float>& losses = {0, 0, 0, 0}) {
    const Array<float> loss(device_, losses);
    const Array<float> max(device_, {max_norm, max_norm, max_norm, max_norm});
    GradientNorm a;
    a.norm = norm_.data();
    a.coef = coef_.data();
    a.nonfinite = nonfinite_.data();
    a.partial = partial_.data();
    a.grad = grad_.data();
    a.loss = loss.data();
    a.stride = stride_;
    a.table = table();
    a.W = W_;
    a.slot = slot_.data();
    a.update = update_.data();
    a.max_norm = max.data();
    run(device_.ops().gradient_norm, a);
  }

  void adamw(const AdamWScalars& s) {
    const Array<AdamWScalars> scalars(device_, {s, s, s, s});
    AdamW a;
    a.p = p_.data();
    a.m = m_.data();
    a.v = v_.data();
    a.grad = grad_.data();
    a.row_stride = a.train_stride = stride_;
    a.table = table();
    a.W = W_;
    a.slot = slot_.data();
    a.update = update_.data();
    a.coef = coef_.data();
    a.nonfinite = nonfinite_.data();
    a.scalars = scalars.data();
    run(device_.ops().adamw, a);
  }

  float norm_of(std::size_t w) const { return norm_.values()[w]; }
  float coef_of(std::size_t w) const { return coef_.values()[w]; }
  bool nonfinite(std::size_t w) const { return nonfinite_.values()[w] != 0; }
  float p(std::size_t w, std::size_t i) const {
    return p_.values()[w * static_cast<std::size_t>(stride_) + i];
  }

 private:
  template <typename Args>
  void run(void (*op)(const Args&, Stream), const Args& args) {
    const Stream stream = device_.make_stream();
    call(op, args, stream);
    device_.synchronize(stream);
    device_.release(stream);
  }
  std::vector<float> rows_of(const std::vector<std::vector<float>>& rows, float fill) const {
    std::vector<float> all(static_cast<std::size_t>(4 * stride_), fill);
    for (std::size_t w = 0; w < rows.size(); ++w) {
      std::copy(rows[w].begin(), rows[w].end(), all.begin() + static_cast<std::ptrdiff_t>(w) * stride_);
    }
    return all;
  }
  ParamTable table() const { return {1, 1, span_.data(), chunk_.data(), own_.data()}; }

  Device& device_;
  int W_;
  std::int64_t stride_;
  Array<ParamSpan> span_;
  Array<ParamChunk> chunk_;
  Array<std::int64_t> own_;
  Array<std::int32_t> slot_, update_, nonfinite_;
  Array<float> norm_, coef_, partial_, grad_, p_, m_, v_;
};

constexpr AdamWScalars kFirstStep{.beta1 = 0.9f,
                                  .one_minus_beta1 = 0.1f,
                                  .beta2 = 0.999f,
                                  .one_minus_beta2 = 0.001f,
                                  .eps = 1e-8f,
                                  .decay = 1,
                                  .step_size = 1e-3f / 0.1f,
                                  .bias2_sqrt = 0.0316227766f};

// Case 49: the first step is the learning rate, thanks to bias correction. A gradient and a weight of
// zero stay zero.
TEST(adamw, TakesTheLearningRateAsItsFirstStep) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    Small small(*device, {{0.1f, -0.1f, 0.0f}});
    small.adamw(kFirstStep);
    EXPECT_NEAR(small.p(0, 0), -1.0000e-3, 1e-9) << name;  // eps and a few roundings: 1e-6 of the step
    EXPECT_NEAR(small.p(0, 1), 1.0000e-3, 1e-9) << name;
    EXPECT_EQ(small.p(0, 2), 0.0f) << name;
  }
}

// Case 46: g1 = (3,0), g2 = (0,4), their mean clipped once to norm 1. No norm over the neighbours.
TEST(gradient_norm, ClipsTheWindowOnceAndEachSlotByItself) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    Small small(*device, {{1.5f, 2.0f}, {0.3f, 0.4f}, {3000.0f, 4000.0f}});
    small.norm(1);
    EXPECT_NEAR(small.coef_of(0) * 1.5, 0.6, 1e-6) << name;  // 1e-6: torch's own, added to the norm
    EXPECT_NEAR(small.coef_of(0) * 2.0, 0.8, 1e-6) << name;
    EXPECT_EQ(small.coef_of(1), 1.0f) << name;
    EXPECT_EQ(small.norm_of(2), 5000.0f) << name;
  }
}

TEST(gradient_norm, SeesWhatIsNotFinite) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    Small small(*device, {{1, NAN}, {1, INFINITY}, {1, 2}, {-INFINITY, INFINITY}});
    small.norm(1);
    for (const std::size_t w : {0, 1, 3}) EXPECT_TRUE(small.nonfinite(w)) << name << ' ' << w;
    EXPECT_FALSE(small.nonfinite(2)) << name;
    small.adamw(kFirstStep);
    for (const std::size_t w : {0, 1, 3}) EXPECT_EQ(small.p(w, 0), 0.0f) << name << ' ' << w;
    EXPECT_NE(small.p(2, 0), 0.0f) << name;
  }
}

TEST(gradient_norm, SeesALossThatIsNotFinite) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    Small small(*device, {{1, 2}, {1, 2}, {1, 2}});
    small.norm(1, {INFINITY, 1, NAN, 0});
    small.adamw(kFirstStep);
    for (const std::size_t w : {0, 2})
      EXPECT_TRUE(small.nonfinite(w) && small.p(w, 0) == 0.0f) << name << ' ' << w;
    EXPECT_TRUE(!small.nonfinite(1) && small.p(1, 0) != 0.0f) << name;
  }
}

// The room that a neighbour's extents make in the row changes no bit.
TEST(gradient_norm, DoesNotDependOnTheCapacity) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    Random random(5);
    std::vector<float> gradient(777);
    for (float& g : gradient) g = static_cast<float>(random.normal());
    Small tight(*device, {gradient}, 896), roomy(*device, {gradient}, 12800);
    tight.norm(1);
    roomy.norm(1);
    EXPECT_EQ(tight.norm_of(0), roomy.norm_of(0)) << name;
    EXPECT_EQ(tight.coef_of(0), roomy.coef_of(0)) << name;
  }
}

// A slot of as many tensors as a large model has, of none to all of their elements, and one of many chunks
// between them.
class ManyTensors {
 public:
  explicit ManyTensors(std::int64_t spare_chunks) {
    Random random(6);
    for (int t = 0; t < kTensors; ++t) {
      const bool large = t == kTensors / 3;
      const std::int64_t own = large ? kLargeChunks * kParamChunk - 5000 : t % (kSmall + 1);
      const std::int64_t capacity = large ? (kLargeChunks + spare_chunks) * kParamChunk : kSmall;
      const auto start = static_cast<std::int64_t>(gradient_.size());
      span_.push_back({start, start, capacity, 0, 0});
      own_.push_back(own);
      for (std::int64_t begin = 0; begin < capacity; begin += kParamChunk) chunk_.push_back({t, begin});
      for (std::int64_t i = 0; i < own; ++i) {
        gradient_.push_back(static_cast<float>(random.normal()));
        squares_ += static_cast<double>(gradient_.back()) * gradient_.back();
      }
      gradient_.resize(static_cast<std::size_t>(start + capacity), NAN);
    }
  }

  double exact_norm() const { return std::sqrt(squares_); }
  float norm_on(Device& device) const {
    const Array<float> grad(device, gradient_), norm(device, {NAN}), coef(device, {NAN}),
        partial(device, std::vector<float>(chunk_.size(), NAN)), max_norm(device, {1});
    const Array<ParamSpan> span(device, span_);
    const Array<ParamChunk> chunk(device, chunk_);
    const Array<std::int64_t> own(device, own_);
    const Array<std::int32_t> slot(device, {0}), update(device, {1}), nonfinite(device, {-1});
    GradientNorm a;
    a.norm = norm.data();
    a.coef = coef.data();
    a.nonfinite = nonfinite.data();
    a.partial = partial.data();
    a.grad = grad.data();
    a.stride = static_cast<std::int64_t>(gradient_.size());
    a.table = {kTensors, static_cast<int>(chunk_.size()), span.data(), chunk.data(), own.data()};
    a.W = 1;
    a.slot = slot.data();
    a.update = update.data();
    a.max_norm = max_norm.data();
    const Stream stream = device.make_stream();
    call(device.ops().gradient_norm, a, stream);
    device.synchronize(stream);
    device.release(stream);
    return norm.values()[0];
  }

 private:
  // More than 1,024 tensors, and more chunks of one of them than four times 32.
  static constexpr int kTensors = 1100;
  static constexpr std::int64_t kLargeChunks = 140, kSmall = 128;

  std::vector<float> gradient_;
  std::vector<ParamSpan> span_;
  std::vector<ParamChunk> chunk_;
  std::vector<std::int64_t> own_;
  double squares_ = 0;
};

TEST(gradient_norm, AddsAllChunksOfManyTensors) {
  const ManyTensors tight(0), roomy(3);
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const float norm = tight.norm_on(*device);
    // As the law's slack: some ten epsilons of a chunk's sum in float, half of that after the root.
    EXPECT_NEAR(norm, tight.exact_norm(), 5 * FLT_EPSILON * tight.exact_norm()) << name;
    // A neighbour's chunks stand between a tensor's own and the next: they move them, and change nothing.
    EXPECT_EQ(roomy.norm_on(*device), norm) << name;
  }
}

}  // namespace
}  // namespace shoal::test
