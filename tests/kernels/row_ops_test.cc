#include <algorithm>

#include "kernels/reference/dropout.h"
#include "tests/support/op.h"
#include "tests/support/refusals.h"

namespace shoal::test {
namespace {

constexpr std::uint32_t kSite = 11;

// One row of each sequence that has any, not always its first. They need not ascend: odd seeds have them
// backwards.
void add_index(Job& j) {
  std::vector<double> index;
  for (std::size_t b = 0; b < j.shape.lengths.size(); ++b) {
    const int length = j.shape.lengths[b];
    if (length > 0) index.push_back(j.cu[b] + (b % 2 == 0 ? 0 : length - 1));
  }
  if (j.shape.seed % 2 != 0) std::reverse(index.begin(), index.end());
  j.ints("index", std::move(index), kHeads);
}

class GatherOp : public OpOf<GatherOp> {
 public:
  explicit GatherOp(int C) : C_(C) {}

  std::string label() const override { return fmt::format("C{}", C_); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.rows("x", C_);
    add_index(j);
    j.out("y", C_, kHeads);
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    GatherRows a;
    a.dtype = lane.dtype();
    a.y = lane.at("y");
    a.x = lane.at("x");
    a.index = lane.at<const std::int32_t>("index");
    a.C = C_;
    a.to = lane.rows(kHeads);
    a.from = lane.rows();
    call(ops.gather_rows, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round) const {
    const Matrix<T> x = matrix<T>(j, "x");
    Matrix<T> y(j.live(kHeads), C_);
    for (int i = 0; i < j.live(kHeads); ++i) y.row(i) = x.row(integers(j, "index")[i]);
    Expected e;
    e.set("y", y);
    return e;
  }

  double slack(const std::string&) const override { return 0; }  // a copy

 private:
  int C_;
};

class ScatterOp : public OpOf<ScatterOp> {
 public:
  ScatterOp(int C, bool add) : C_(C), add_(add) {}

  std::string label() const override { return fmt::format("C{}{}", C_, add_ ? "add" : ""); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.rows("dy", C_, kHeads);
    add_index(j);
    if (add_) {
      j.rows("dx", C_).role = Role::kInOut;
    } else {
      j.out("dx", C_);
    }
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    ScatterRows a;
    a.dtype = lane.dtype();
    a.dx = lane.at("dx");
    a.dy = lane.at("dy");
    a.index = lane.at<const std::int32_t>("index");
    a.add = add_;
    a.C = C_;
    a.to = lane.rows(kHeads);
    a.from = lane.rows();
    call(ops.scatter_rows, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const Matrix<T> dy = matrix<T>(j, "dy");
    Matrix<T> dx = add_ ? matrix<T>(j, "dx") : Matrix<T>::Zero(j.live(), C_);
    for (int i = 0; i < j.live(kHeads); ++i) dx.row(integers(j, "index")[i]) += dy.row(i);
    Expected e;
    e.set("dx", round(std::move(dx)));
    return e;
  }

  double slack(const std::string&) const override { return 0; }  // a copy, or one sum of two

 private:
  int C_;
  bool add_;
};

class DropoutOp : public OpOf<DropoutOp> {
 public:
  DropoutOp(int C, bool in_place) : C_(C), in_place_(in_place) {}

  std::string label() const override { return fmt::format("C{}{}", C_, in_place_ ? "inplace" : ""); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.rows("x", C_).role = in_place_ ? Role::kInOut : Role::kIn;
    j.dropout();
    if (!in_place_) j.out("y", C_);
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    Dropout a;
    a.dtype = lane.dtype();
    a.y = lane.at(result());
    a.x = lane.at("x");
    a.C = C_;
    a.drop = lane.drop(kSite);
    a.rows = lane.rows();
    call(ops.dropout, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const Matrix<T> factors = reference::hidden_factors<T>(j.key(kSite), j.live(), C_);
    Expected e;
    e.set(result(), round(Matrix<T>(matrix<T>(j, "x").cwiseProduct(factors))));
    return e;
  }

 private:
  const char* result() const { return in_place_ ? "x" : "y"; }

  int C_;
  bool in_place_;
};

class CastOp : public OpOf<CastOp> {
 public:
  explicit CastOp(int elements) : elements_(elements) {}

  std::string label() const override { return fmt::format("n{}", elements_); }
  bool shares_parameters() const override { return false; }  // each slot has its copy

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.param_f32("from", elements_, shape.scale, shape.offset);
    j.add(
        {.name = "to", .elem = Elem::kBF16, .place = Place::kSlot, .role = Role::kOut, .columns = elements_});
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    CastRows a;
    a.to = lane.at<bf16>("to");
    a.from = lane.at<const float>("from");
    a.stride = lane.stride("from");
    a.elements = elements_;
    a.W = lane.W();
    a.slot = lane.slots();
    call(ops.cast_rows, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round) const {
    Expected e;
    Matrix<T> from = matrix<T>(j, "from");
    if constexpr (std::is_same_v<T, float>) from = reference::RoundTo{DType::kBF16}(from);
    e.set("to", from);
    return e;
  }

  double slack(const std::string&) const override { return 0; }  // rounding is exact

 private:
  int elements_;
};

// More rows than a block of threads has threads to look them up, out of several blocks of rows.
const Case kMany{
    "many",
    {JobShape{.lengths = std::vector<int>(300, 2), .seed = 31},
     JobShape{.lengths = std::vector<int>(130, 1), .seed = 32}, JobShape{.lengths = {}, .seed = 33}}};

std::vector<Case> cases() {
  std::vector<Case> all = standard_cases();
  all.push_back(kMany);
  return all;
}

SHOAL_OP_LAWS(gather_rows, {{std::make_shared<GatherOp>(48), cases()},
                            {std::make_shared<GatherOp>(768), standard_cases()}});
SHOAL_OP_LAWS(scatter_rows, {{std::make_shared<ScatterOp>(48, false), cases()},
                             {std::make_shared<ScatterOp>(16, true), cases()},
                             {std::make_shared<ScatterOp>(768, false), standard_cases()}});
SHOAL_OP_LAWS(dropout, {{std::make_shared<DropoutOp>(48, false), standard_cases()},
                        {std::make_shared<DropoutOp>(768, true), standard_cases()}});
SHOAL_OP_LAWS(cast_rows, {{std::make_shared<CastOp>(1), standard_cases()},
                          {std::make_shared<CastOp>(70001), standard_cases()}});

// What is dropped is 0 even of NaN: by selection, not by multiplication.
TEST(dropout, DropsNaN) {
  const DropoutOp op(48, false);
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const Stream stream = device->make_stream();
    Lane lane(*device, {op.job({.lengths = {20}, .drop = 0.5, .nan = true}, own_dtype(*device))});
    run(lane, *device, op);
    const std::vector<double> y = lane.values(0, "y");
    const std::vector<double> factors =
        flat(reference::hidden_factors<double>(lane.job(0).key(kSite), 20, 48));
    for (std::size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(std::isnan(y[i]), factors[i] != 0) << name << ' ' << i;
    device->release(stream);
  }
}

TEST(gather_rows, Refuses) {
  using A = GatherRows;
  Addresses make;
  A good;
  good.y = make.make();
  good.x = make.make();
  good.index = make.make<std::int32_t>();
  good.C = 48;
  good.to = make.rows(128);
  good.from = make.rows(256);
  const std::string op = "gather_rows: ";
  expect_refusals<A>(&OpTable::gather_rows, good,
                     {{[](A& a) { a.C = 20; }, op + "C: wanted a positive multiple of 16, got 20"},
                      {[](A& a) { a.y = nullptr; }, op + "y: wanted an address, got null"},
                      {[](A& a) { a.x = nullptr; }, op + "x: wanted an address, got null"},
                      {[](A& a) { a.index = nullptr; }, op + "index: wanted an address, got null"},
                      {[](A& a) { a.to.W = 1; }, op + "to.W: wanted 2 .. 2, got 1"},
                      {[](A& a) { a.from.rows = 0; }, op + "from.rows: wanted a positive multiple of 128"},
                      {[](A& a) { a.y = const_cast<void*>(a.x); }, op + "y: wanted memory apart from x"}});
}

TEST(scatter_rows, Refuses) {
  using A = ScatterRows;
  Addresses make;
  A good;
  good.dx = make.make();
  good.dy = make.make();
  good.index = make.make<std::int32_t>();
  good.C = 48;
  good.to = make.rows(128);
  good.from = make.rows(256);
  const std::string op = "scatter_rows: ";
  expect_refusals<A>(
      &OpTable::scatter_rows, good,
      {{[](A& a) { a.C = 20; }, op + "C: wanted a positive multiple of 16, got 20"},
       {[](A& a) { a.dx = nullptr; }, op + "dx: wanted an address, got null"},
       {[](A& a) { a.dy = nullptr; }, op + "dy: wanted an address, got null"},
       {[](A& a) { a.index = nullptr; }, op + "index: wanted an address, got null"},
       {[](A& a) { a.to.W = 3; }, op + "to.W: wanted 2 .. 2, got 3"},
       {[](A& a) { a.to.live = nullptr; }, op + "to.live: wanted an address, got null"},
       {[](A& a) { a.dx = const_cast<void*>(a.dy); }, op + "dx: wanted memory apart from dy"}});
}

TEST(dropout, Refuses) {
  using A = Dropout;
  Addresses make;
  A good;
  good.y = make.make();
  good.x = make.make();
  good.C = 48;
  good.drop = make.drop();
  good.rows = make.rows();
  const std::string op = "dropout: ";
  expect_refusals<A>(
      &OpTable::dropout, good,
      {{[](A& a) { a.C = 20; }, op + "C: wanted a positive multiple of 16, got 20"},
       {[](A& a) { a.y = nullptr; }, op + "y: wanted an address, got null"},
       {[](A& a) { a.x = nullptr; }, op + "x: wanted an address, got null"},
       {[](A& a) { a.y = static_cast<std::byte*>(a.y) + 1; }, op + "y: wanted an address that is"},
       {[](A& a) { a.y = static_cast<std::byte*>(const_cast<void*>(a.x)) + 64; },
        op + "y: wanted memory apart from x"},
       {[](A& a) { a.drop.threshold = nullptr; }, op + "drop.threshold: wanted an address"},
       {[](A& a) { a.rows.W = 0; }, op + "rows.W: wanted at least 1, got 0"}});
}

TEST(cast_rows, Refuses) {
  using A = CastRows;
  Addresses make;
  A good;
  good.to = make.make<bf16>();
  good.from = make.make<float>();
  good.stride = 256;
  good.elements = 200;
  good.W = 2;
  good.slot = make.make<std::int32_t>();
  const std::string op = "cast_rows: ";
  expect_refusals<A>(&OpTable::cast_rows, good,
                     {{[](A& a) { a.to = nullptr; }, op + "to: wanted an address, got null"},
                      {[](A& a) { a.from = nullptr; }, op + "from: wanted an address, got null"},
                      {[](A& a) { a.elements = 300; }, op + "stride: wanted a stride of at least 300"},
                      {[](A& a) { a.stride = 250; }, op + "stride: wanted a stride of at least 200"},
                      {[](A& a) { a.elements = -1; }, op + "elements: wanted 0 .. "},
                      {[](A& a) { a.W = 0; }, op + "W: wanted 1 .. "},
                      {[](A& a) { a.slot = nullptr; }, op + "slot: wanted an address, got null"}});
}

}  // namespace
}  // namespace shoal::test
