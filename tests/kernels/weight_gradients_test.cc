#include "kernels/reference/linear.h"
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

std::vector<Case> cases() {
  std::vector<Case> all = standard_cases();
  all.push_back(kLong);
  return all;
}

SHOAL_OP_LAWS(linear_backward_weight_group, {{std::make_shared<WeightGroupOp>(48, 32), cases()},
                                             {std::make_shared<WeightGroupOp>(768, 1024), {kTile}}});

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
