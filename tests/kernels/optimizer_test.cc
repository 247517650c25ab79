#include "kernels/reference/optimizer.h"

#include "tests/support/op.h"
#include "tests/support/refusals.h"

namespace shoal::test {
namespace {

// Rows of three tensors: one that decays; one whose own extent is the job's labels; word embeddings of
// several chunks, sparse. The weight row holds a frozen tensor between the first and the second. The marks of
// a training row fill whole words.
struct Layout {
  static constexpr int kTensors = 3;
  ParamSpan span[kTensors] = {{0, 0, 384, 1, 0}, {512, 384, 256, 0, 0}, {768, 640, 40320, 1, 1}};
  static constexpr std::int64_t kRow = 768 + 40320;
  static constexpr std::int64_t kTrainRow = 640 + 40320;
  static_assert(kTrainRow % (4 * kTouchRun) == 0);

  std::vector<ParamChunk> chunks() const {
    std::vector<ParamChunk> all;
    for (int t = 0; t < kTensors; ++t) {
      for (std::int64_t begin = 0; begin < span[t].capacity; begin += kParamChunk) {
        all.push_back({t, begin});
      }
    }
    return all;
  }
};
const Layout kLayout;

std::int64_t own(const Job& j, int tensor) {
  const std::int64_t sizes[] = {300, j.shape.labels, 33000 + j.shape.labels};
  return sizes[tensor];
}

// Calls each(tensor, place in the weight row, place in the training row) for all own elements.
template <typename Each>
void for_own(const Job& j, const Each& each) {
  for (int t = 0; t < Layout::kTensors; ++t) {
    for (std::int64_t i = 0; i < own(j, t); ++i) {
      each(t, static_cast<std::size_t>(kLayout.span[t].offset + i),
           static_cast<std::size_t>(kLayout.span[t].train_offset + i));
    }
  }
}

// Whether a mark says that element k of the training row holds zeros. Marks of tensors that are not sparse
// say it too, and are not believed.
bool has_mark(std::int64_t k) {
  return k >= kLayout.span[2].train_offset && k / kTouchRun % 3 != 1;
}
bool is_unread(int tensor, std::size_t k) {
  return kLayout.span[tensor].sparse != 0 && !has_mark(static_cast<std::int64_t>(k));
}

void add_marks(Job& j) {
  Tensor t{.name = "touched",
           .elem = Elem::kU32,
           .place = Place::kSlot,
           .columns = Layout::kTrainRow / kTouchRun / 4,
           .packed = true};
  for (std::int64_t word = 0; word < t.columns; ++word) {
    std::uint32_t marks = 0;
    for (int i = 0; i < 4; ++i) marks |= (has_mark((word * 4 + i) * kTouchRun) ? 1u : 0u) << (8 * i);
    t.values.push_back(marks);
  }
  j.add(std::move(t));
}

// A training row: values at its own elements, zeros at words that never occurred, NaN where nobody may
// look: with marks, also where there is none. A last run that is not whole holds the zeros it should: a
// device may find it easier to read them.
Tensor training_row(Job& j, const char* name, Role role, double deviation, bool marked,
                    bool positive = false) {
  Tensor t{.name = name, .place = Place::kSlot, .role = role, .columns = Layout::kTrainRow, .packed = true};
  t.values.assign(static_cast<std::size_t>(t.columns), NAN);
  for_own(j, [&](int tensor, std::size_t, std::size_t k) {
    const double v = rounded(t.elem, j.data.normal() * deviation);
    const bool never_seen = kLayout.span[tensor].sparse != 0 && k / 1000 % 3 == 1;  // rows of unused words
    const auto last_run = (kLayout.span[2].train_offset + own(j, 2)) / kTouchRun;
    if (marked && is_unread(tensor, k)) {
      if (static_cast<std::int64_t>(k) / kTouchRun == last_run) t.values[k] = 0;
      return;
    }
    t.values[k] = never_seen ? 0 : positive ? std::abs(v) : v;
  });
  return t;
}

bool updates(const Job& j) {
  return j.shape.updates && j.live() > 0;
}

void add_table(Job& j) {
  Tensor t{
      .name = "own", .elem = Elem::kI64, .place = Place::kSlot, .columns = Layout::kTensors, .packed = true};
  for (int i = 0; i < Layout::kTensors; ++i) t.values.push_back(static_cast<double>(own(j, i)));
  j.add(std::move(t));
  j.entry("update", Elem::kI32, {updates(j) ? 1.0 : 0.0});
}

ParamTable table_of(Lane& lane) {
  const std::vector<ParamChunk> chunks = kLayout.chunks();
  ParamTable table;
  table.tensors = Layout::kTensors;
  table.chunks = static_cast<int>(chunks.size());
  table.span = static_cast<const ParamSpan*>(lane.constant("span", kLayout.span, sizeof kLayout.span));
  table.chunk = static_cast<const ParamChunk*>(
      lane.constant("chunk", chunks.data(), chunks.size() * sizeof(ParamChunk)));
  table.own = lane.at<const std::int64_t>("own");
  return table;
}

class GradientNormOp : public OpOf<GradientNormOp> {
 public:
  explicit GradientNormOp(bool marked) : marked_(marked) {}

  std::string label() const override { return marked_ ? "marked" : "three"; }
  bool shares_parameters() const override { return false; }  // gradients are a slot's own

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    add_table(j);
    if (marked_) add_marks(j);
    j.add(training_row(j, "grad", Role::kIn, shape.scale / 100, marked_));
    j.entry("max_norm", Elem::kF32, {shape.seed % 3 == 0 ? 0.0 : 1.0});
    for (const char* name : {"norm", "coef"}) j.entry(name, Elem::kF32, {0}).role = Role::kOut;
    j.entry("nonfinite", Elem::kI32, {0}).role = Role::kOut;
    const auto chunks = static_cast<std::int64_t>(kLayout.chunks().size());
    j.add({.name = "partial", .place = Place::kEntry, .role = Role::kScratch, .columns = chunks});
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    GradientNorm a;
    a.norm = lane.at<float>("norm");
    a.coef = lane.at<float>("coef");
    a.nonfinite = lane.at<std::int32_t>("nonfinite");
    a.partial = lane.at<float>("partial");
    a.grad = lane.at<const float>("grad");
    a.stride = Layout::kTrainRow;
    if (marked_) a.touched = lane.at<const std::uint8_t>("touched");
    a.table = table_of(lane);
    a.W = lane.W();
    a.slot = lane.slots();
    a.update = lane.at<const std::int32_t>("update");
    a.max_norm = lane.at<const float>("max_norm");
    call(ops.gradient_norm, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round) const {
    Expected e;
    if (!updates(j)) return e;
    // The plain form is the rounded double one: thirty thousand squares in one float chain would allow
    // more than a forgotten element makes.
    std::vector<double> gradient;
    for_own(j, [&](int tensor, std::size_t, std::size_t k) {
      if (!marked_ || !is_unread(tensor, k)) gradient.push_back(j.at("grad").values[k]);
    });
    const auto r = reference::gradient_norm<double>(gradient, scalar<double>(j, "max_norm"));
    e.set("norm", Matrix<T>::Constant(1, 1, static_cast<T>(r.norm)));
    e.set("coef", Matrix<T>::Constant(1, 1, static_cast<T>(r.coef)));
    e.set("nonfinite", Matrix<T>::Zero(1, 1));
    return e;
  }

  // Up to 16,384 squares are summed in float before double takes over: with the 16 or more partial sums
  // of a vector unit, or pairwise, some ten epsilons.
  double slack(const std::string&) const override { return 10; }

 private:
  bool marked_;
};

class AdamWOp : public OpOf<AdamWOp> {
 public:
  explicit AdamWOp(bool marked) : marked_(marked) {}

  std::string label() const override { return marked_ ? "marked" : "three"; }
  bool shares_parameters() const override { return false; }  // rows are a slot's own

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    add_table(j);
    Tensor p{
        .name = "p", .place = Place::kSlot, .role = Role::kInOut, .columns = Layout::kRow, .packed = true};
    p.values.assign(static_cast<std::size_t>(p.columns), NAN);
    for_own(j, [&](int, std::size_t k, std::size_t) {
      p.values[k] = rounded(p.elem, j.data.normal() * shape.scale);
    });
    j.add(p);
    if (dtype == DType::kBF16) {
      p.name = "p16";
      p.elem = Elem::kBF16;
      j.add(std::move(p));
    }
    if (marked_) add_marks(j);
    j.add(training_row(j, "m", Role::kInOut, 0.01, marked_));
    j.add(training_row(j, "v", Role::kInOut, 0.0001, marked_, true));
    j.add(training_row(j, "grad", Role::kInOut, 0.1, marked_));
    j.entry("coef", Elem::kF32, {0.25});
    j.entry("nonfinite", Elem::kI32, {held_back(j) ? 1.0 : 0.0});
    const AdamWScalars k = scalars(j);
    j.entry(
        "scalars", Elem::kF32,
        {k.beta1, k.one_minus_beta1, k.beta2, k.one_minus_beta2, k.eps, k.decay, k.step_size, k.bias2_sqrt});
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    AdamW a;
    a.p = lane.at<float>("p");
    if (lane.dtype() == DType::kBF16) a.p16 = lane.at<bf16>("p16");
    a.m = lane.at<float>("m");
    a.v = lane.at<float>("v");
    a.grad = lane.at<float>("grad");
    a.row_stride = Layout::kRow;
    a.train_stride = Layout::kTrainRow;
    if (marked_) a.touched = lane.at<const std::uint8_t>("touched");
    a.table = table_of(lane);
    a.W = lane.W();
    a.slot = lane.slots();
    a.update = lane.at<const std::int32_t>("update");
    a.coef = lane.at<const float>("coef");
    a.nonfinite = lane.at<const std::int32_t>("nonfinite");
    a.scalars = lane.at<const AdamWScalars>("scalars");
    call(ops.adamw, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round) const {
    Expected e;
    if (!updates(j)) return e;
    Matrix<T> p = matrix<T>(j, "p"), m = matrix<T>(j, "m"), v = matrix<T>(j, "v"),
              grad = matrix<T>(j, "grad");
    Matrix<T> p16 = matrix<T>(j, j.dtype == DType::kBF16 ? "p16" : "p");
    for_own(j, [&](int t, std::size_t row, std::size_t train) {
      const auto i = static_cast<Eigen::Index>(row), k = static_cast<Eigen::Index>(train);
      const bool unread = marked_ && is_unread(t, train);
      if (!held_back(j)) {
        const reference::AdamWState<T> before = unread ? reference::AdamWState<T>{p(0, i), T(0), T(0)}
                                                       : reference::AdamWState<T>{p(0, i), m(0, k), v(0, k)};
        const auto s = reference::adamw<T>(before, unread ? T(0) : grad(0, k), scalar<T>(j, "coef"),
                                           kLayout.span[t].decay != 0, scalars(j));
        p(0, i) = s.p;
        p16(0, i) = std::is_same_v<T, float> ? T(static_cast<float>(bf16(static_cast<float>(s.p)))) : s.p;
        if (!unread) {
          m(0, k) = s.m;
          v(0, k) = s.v;
        }
      }
      if (kLayout.span[t].sparse != 0 && !unread) grad(0, k) = 0;
    });
    e.set("grad", grad);
    if (held_back(j)) return e;
    e.set("p", p);
    e.set("m", m);
    e.set("v", v);
    if (j.dtype == DType::kBF16) e.set("p16", p16);
    return e;
  }

 private:
  // Jobs of six labels stand for one with a non-finite gradient.
  static bool held_back(const Job& j) { return j.shape.labels == 6; }
  static AdamWScalars scalars(const Job& j) {
    const double t = 1 + static_cast<double>(j.shape.seed % 9), lr = 1e-2;
    return {.beta1 = 0.9f,
            .one_minus_beta1 = 0.1f,
            .beta2 = 0.999f,
            .one_minus_beta2 = 0.001f,
            .eps = 1e-8f,
            .decay = static_cast<float>(1 - lr * 0.1),
            .step_size = static_cast<float>(lr / (1 - std::pow(0.9, t))),
            .bias2_sqrt = static_cast<float>(std::sqrt(1 - std::pow(0.999, t)))};
  }

  bool marked_;
};

SHOAL_OP_LAWS(gradient_norm, {{std::make_shared<GradientNormOp>(false), standard_cases()},
                              {std::make_shared<GradientNormOp>(true), standard_cases()}});
SHOAL_OP_LAWS(adamw, {{std::make_shared<AdamWOp>(false), standard_cases()},
                      {std::make_shared<AdamWOp>(true), standard_cases()}});

ParamTable good_table(Addresses& make) {
  return {3, 5, make.make<ParamSpan>(), make.make<ParamChunk>(), make.make<std::int64_t>()};
}

TEST(gradient_norm, Refuses) {
  using A = GradientNorm;
  Addresses make;
  A good;
  good.norm = good.coef = good.partial = make.make<float>();
  good.nonfinite = make.make<std::int32_t>();
  good.grad = make.make<float>();
  good.stride = 256;
  good.table = good_table(make);
  good.W = 2;
  good.slot = good.update = make.make<std::int32_t>();
  good.max_norm = make.make<float>();
  const std::string op = "gradient_norm: ";
  expect_refusals<A>(
      &OpTable::gradient_norm, good,
      {{[](A& a) { a.norm = nullptr; }, op + "norm: wanted an address, got null"},
       {[](A& a) { a.coef = nullptr; }, op + "coef: wanted an address, got null"},
       {[](A& a) { a.nonfinite = nullptr; }, op + "nonfinite: wanted an address, got null"},
       {[](A& a) { a.partial = nullptr; }, op + "partial: wanted an address, got null"},
       {[](A& a) { a.grad = nullptr; }, op + "grad: wanted an address, got null"},
       {[](A& a) { a.stride = 100; }, op + "stride: wanted a stride of at least 1"},
       {[](A& a) { a.table.tensors = 0; }, op + "table.tensors: wanted 1 .. "},
       {[](A& a) { a.table.chunks = 2; }, op + "table.chunks: wanted 3 .. "},
       {[](A& a) { a.table.span = nullptr; }, op + "table.span: wanted an address, got null"},
       {[](A& a) { a.table.chunk = nullptr; }, op + "table.chunk: wanted an address, got null"},
       {[](A& a) { a.table.own = nullptr; }, op + "table.own: wanted an address, got null"},
       {[](A& a) { a.W = 0; }, op + "W: wanted 1 .. "},
       {[](A& a) { a.slot = nullptr; }, op + "slot: wanted an address, got null"},
       {[](A& a) { a.update = nullptr; }, op + "update: wanted an address, got null"},
       {[](A& a) { a.max_norm = nullptr; }, op + "max_norm: wanted an address, got null"}});
}

TEST(adamw, Refuses) {
  using A = AdamW;
  Addresses make;
  A good;
  good.p = make.make<float>();
  good.p16 = make.make<bf16>();
  good.m = good.v = good.grad = make.make<float>();
  good.row_stride = good.train_stride = 256;
  good.table = good_table(make);
  good.W = 2;
  good.slot = good.update = good.nonfinite = make.make<std::int32_t>();
  good.coef = make.make<float>();
  good.scalars = make.make<AdamWScalars>();
  const std::string op = "adamw: ";
  expect_refusals<A>(
      &OpTable::adamw, good,
      {{[](A& a) { a.p = nullptr; }, op + "p: wanted an address, got null"},
       {[](A& a) { a.p16 += 1; }, op + "p16: wanted an address that is a multiple of 64"},
       {[](A& a) { a.m = nullptr; }, op + "m: wanted an address, got null"},
       {[](A& a) { a.v = nullptr; }, op + "v: wanted an address, got null"},
       {[](A& a) { a.grad = nullptr; }, op + "grad: wanted an address, got null"},
       {[](A& a) { a.row_stride = 0; }, op + "row_stride: wanted a stride of at least 1"},
       {[](A& a) { a.train_stride = 129; }, op + "train_stride: wanted a stride of at least 1"},
       {[](A& a) { a.table.own = nullptr; }, op + "table.own: wanted an address, got null"},
       {[](A& a) { a.W = -1; }, op + "W: wanted 1 .. "},
       {[](A& a) { a.update = nullptr; }, op + "update: wanted an address, got null"},
       {[](A& a) { a.coef = nullptr; }, op + "coef: wanted an address, got null"},
       {[](A& a) { a.nonfinite = nullptr; }, op + "nonfinite: wanted an address, got null"},
       {[](A& a) { a.scalars = nullptr; }, op + "scalars: wanted an address, got null"}});
}

}  // namespace
}  // namespace shoal::test
