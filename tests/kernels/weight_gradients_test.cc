#include <cmath>

#include "kernels/reference/linear.h"
#include "tests/support/array.h"
#include "tests/support/op.h"
#include "tests/support/refusals.h"

namespace shoal::test {
namespace {

// Three weight items, of all rows and of the heads' rows, with and without bias, one frozen; two norms.
class WeightGroupOp : public OpOf<WeightGroupOp> {
 public:
  WeightGroupOp(int N, int K) : N_(N), K_(K) {}

  std::string label() const override { return fmt::format("N{}K{}", N_, K_); }
  bool shares_parameters() const override { return false; }  // it has none

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.rows("dy0", N_);
    j.rows("x0", K_);
    j.grad("dw0", std::int64_t{N_} * K_);
    j.grad("db0", N_);
    j.rows("dy1", K_, kHeads);
    j.rows("x1", N_, kHeads);
    j.grad("dw1", std::int64_t{N_} * K_);
    j.rows("dy2", 16);
    j.grad("db2", 16);
    Tensor partial{.name = "partial", .place = Place::kBlock, .columns = 3 * K_};
    for (std::int64_t i = 0; i < j.units(partial) * partial.columns; ++i) {
      partial.values.push_back(rounded(Elem::kF32, j.data.normal()));
    }
    j.add(std::move(partial));
    for (const char* name : {"dgamma", "dbeta", "dbias", "dgamma2"}) j.grad(name, K_);
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    LinearBackwardWeightGroup a;
    a.dtype = lane.dtype();
    a.items = 3;
    a.item[0] = {lane.grad("dw0"), lane.grad("db0"), lane.at("dy0"), lane.at("x0"), N_, K_, lane.rows()};
    a.item[1] = {lane.grad("dw1"), {}, lane.at("dy1"), lane.at("x1"), K_, N_, lane.rows(kHeads)};
    a.item[2] = {{}, lane.grad("db2"), lane.at("dy2"), nullptr, 16, 16, lane.rows()};
    a.norms = 2;
    const float* partial = lane.at<const float>("partial");
    a.norm[0] = {partial, lane.grad("dgamma"), lane.grad("dbeta"), lane.grad("dbias"), K_, lane.rows()};
    a.norm[1] = {partial, lane.grad("dgamma2"), {}, {}, K_, lane.rows()};
    call(ops.linear_backward_weight_group, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round) const {
    Expected e;
    const auto weight = [&](const char* dw, const char* dy, const char* x) {
      const Matrix<T> a = matrix<T>(j, dy), b = matrix<T>(j, x);
      e.set_gradient<T>(j, dw, reference::linear_backward_weight<T>(a, b),
                        product_terms(a.transpose(), b.transpose()));
    };
    const auto bias = [&](const char* db, const char* dy) {
      const Matrix<T> a = matrix<T>(j, dy);
      e.set_gradient<T>(j, db, reference::linear_backward_bias<T>(a), column_terms(a));
    };
    weight("dw0", "dy0", "x0");
    bias("db0", "dy0");
    weight("dw1", "dy1", "x1");
    bias("db2", "dy2");
    const Matrix<T> partial = matrix<T>(j, "partial"), sums = partial.colwise().sum();
    const double terms = column_terms(partial);
    e.set_gradient<T>(j, "dgamma", sums.leftCols(K_), terms);
    e.set_gradient<T>(j, "dbeta", sums.middleCols(K_, K_), terms);
    e.set_gradient<T>(j, "dbias", sums.rightCols(K_), terms);
    e.set_gradient<T>(j, "dgamma2", sums.leftCols(K_), terms);
    return e;
  }

  // 4,096 rows are 256 steps. The sum of so many products of either sign never grows beyond about a
  // twentieth of the sum of their sizes: 256 / 20.
  double tensor_core_slack(const std::string&) const override { return 13; }

 private:
  int N_, K_;
};

// Rows in more than one and in more than two chunks of 4,096, as many in one job as in another.
const Case kLong{
    "long_rows",
    {JobShape{.lengths = {512, 512, 512, 512, 512, 512, 512, 512, 1}, .mode = GradMode::kAdd, .seed = 41},
     JobShape{.lengths = {50}, .seed = 42}, JobShape{.lengths = {8000, 333}, .seed = 43}}};
const Case kTile{"bert_base", {JobShape{.lengths = {128, 128, 44}, .seed = 44}}};
// Whole tiles and whole steps of rows, one step that is not, and more rows than one accumulator takes.
const Case kWhole{"whole_tiles",
                  {JobShape{.lengths = {500, 12, 128}, .mode = GradMode::kAdd, .seed = 45},
                   JobShape{.lengths = {63, 2}, .seed = 46},
                   JobShape{.lengths = {512, 512, 512, 512, 512, 512, 512, 512, 70}, .seed = 47}}};
// Tiles at the edge of both sides.
const Case kEdge{"edge_tiles",
                 {JobShape{.lengths = {100, 93}, .mode = GradMode::kAdd, .seed = 48},
                  JobShape{.lengths = {}, .seed = 49}, JobShape{.lengths = {17}, .seed = 50}}};

std::vector<Case> cases() {
  std::vector<Case> all = standard_cases();
  all.push_back(kLong);
  return all;
}

SHOAL_OP_LAWS(linear_backward_weight_group, {{std::make_shared<WeightGroupOp>(48, 32), cases()},
                                             {std::make_shared<WeightGroupOp>(128, 128), {kWhole}},
                                             {std::make_shared<WeightGroupOp>(272, 144), {kEdge}},
                                             {std::make_shared<WeightGroupOp>(768, 1024), {kTile}}});

// A bias's gradient of one entry, whose weight is set, skipped by the entry, or frozen in all of the lane.
enum class Weight { kSet, kSkipped, kFrozen };

template <typename T>
std::vector<float> bias_beside(Device& device, Weight weight, int N, int K, int live) {
  const auto rows = static_cast<std::size_t>(std::max<std::int64_t>(ceil128(live), kRowAlign));
  Random random(51);
  std::vector<T> dy(rows * static_cast<std::size_t>(N)), x(rows * static_cast<std::size_t>(K));
  for (std::size_t i = 0; i < static_cast<std::size_t>(live) * static_cast<std::size_t>(N); ++i)
    dy[i] = T(static_cast<float>(random.normal()));
  const Array<T> dys(device, dy), xs(device, x);
  const Array<float> dw(device, std::vector<float>(static_cast<std::size_t>(N * K), NAN)),
      db(device, std::vector<float>(static_cast<std::size_t>(N), NAN));
  const Array<GradMode> set(device, {GradMode::kSet}), skip(device, {GradMode::kSkip});
  const Array<std::int32_t> slot(device, {0}), row0(device, {0, static_cast<std::int32_t>(rows)}),
      lives(device, {live});
  LinearBackwardWeightGroup a;
  a.dtype = DTypeOf<T>::value;
  a.items = 1;
  WeightGradientItem& item = a.item[0];
  if (weight != Weight::kFrozen) {
    item.dw = {dw.data(), round_up(N * K, kTensorAlign), weight == Weight::kSet ? set.data() : skip.data()};
  }
  item.db = {db.data(), round_up(N, kTensorAlign), set.data()};
  item.dy = dys.data();
  item.x = xs.data();
  item.N = N;
  item.K = K;
  item.rows = {1, static_cast<std::int64_t>(rows), slot.data(), row0.data(), lives.data()};
  const Stream stream = device.make_stream();
  call(device.ops().linear_backward_weight_group, a, stream);
  device.synchronize(stream);
  device.release(stream);
  for (const float g : dw.values()) {
    if (weight == Weight::kSet ? g != 0 : !std::isnan(g)) return {};
  }
  return db.values();
}

// A job must not notice what its neighbours freeze.
TEST(linear_backward_weight_group, FormsTheBiasTheSameBesideAnyWeight) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const bool f32 = own_dtype(*device) == DType::kF32;
    const auto bias = [&](Weight weight, int N, int K, int live) {
      return f32 ? bias_beside<float>(*device, weight, N, K, live)
                 : bias_beside<bf16>(*device, weight, N, K, live);
    };
    for (const int live : {0, 1, 64, 193, 4096 + 130}) {
      for (const int N : {128, 144}) {
        const std::vector<float> beside = bias(Weight::kSet, N, 16, live);
        ASSERT_EQ(beside.size(), static_cast<std::size_t>(N)) << name << ' ' << live;
        EXPECT_EQ(bias(Weight::kSkipped, N, 16, live), beside) << name << ' ' << live;
        EXPECT_EQ(bias(Weight::kFrozen, N, 16, live), beside) << name << ' ' << live;
        EXPECT_EQ(bias(Weight::kSet, N, 128, live), beside) << name << ' ' << live;
      }
    }
  }
}

TEST(linear_backward_weight_group, Refuses) {
  using A = LinearBackwardWeightGroup;
  Addresses make;
  A good;
  good.items = 1;
  good.item[0] = {make.grad(48 * 32), make.grad(128), make.make(), make.make(), 48, 32, make.rows()};
  good.norms = 1;
  good.norm[0] = {make.make<float>(), make.grad(128), make.grad(128), make.grad(128), 32, make.rows()};
  const std::string op = "linear_backward_weight_group: ";
  expect_refusals<A>(
      &OpTable::linear_backward_weight_group, good,
      {{[](A& a) { a.items = 9; }, op + "items: wanted 0 .. 8, got 9"},
       {[](A& a) { a.norms = 5; }, op + "norms: wanted 0 .. 4, got 5"},
       {[](A& a) { a.items = a.norms = 0; }, op + "items + norms: wanted 1 .. 12, got 0"},
       {[](A& a) { a.item[0].N = 20; }, op + "item[0].N: wanted a positive multiple of 16, got 20"},
       {[](A& a) { a.item[0].K = 20; }, op + "item[0].K: wanted a positive multiple of 16, got 20"},
       {[](A& a) { a.item[0].dy = nullptr; }, op + "item[0].dy: wanted an address, got null"},
       {[](A& a) { a.item[0].x = nullptr; }, op + "item[0].x: wanted an address, got null"},
       {[](A& a) { a.item[0].dw.stride = 0; }, op + "item[0].dw: wanted a stride of at least 1536"},
       {[](A& a) { a.item[0].dw.mode = nullptr; }, op + "item[0].dw.mode: wanted an address, got null"},
       {[](A& a) { a.item[0].db.stride = 16; }, op + "item[0].db: wanted a stride of at least 48"},
       {[](A& a) { a.item[0].rows.rows = 5; }, op + "item[0].rows.rows: wanted a positive multiple of 128"},
       {[](A& a) { a.norm[0].C = 8; }, op + "norm[0].C: wanted a positive multiple of 16, got 8"},
       {[](A& a) { a.norm[0].partial = nullptr; }, op + "norm[0].partial: wanted an address, got null"},
       {[](A& a) { a.norm[0].dgamma.mode = nullptr; }, op + "norm[0].dgamma.mode: wanted an address"},
       {[](A& a) { a.norm[0].rows.W = 0; }, op + "norm[0].rows.W: wanted at least 1, got 0"}});
}

}  // namespace
}  // namespace shoal::test
