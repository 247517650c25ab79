#include <algorithm>
#include <numeric>

#include "kernels/reference/dropout.h"
#include "kernels/reference/embedding.h"
#include "kernels/reference/layernorm.h"
#include "tests/support/op.h"
#include "tests/support/refusals.h"

namespace shoal::test {
namespace {

constexpr std::uint32_t kSite = 2;
constexpr float kEps = 1e-12f;
constexpr int kPositions = 520;
constexpr int kTypes = 2;

// A job's own vocabulary; id 3 is every other token, so that it fills several chunks.
int vocabulary(const Job& j) {
  return 40 + j.shape.labels;
}

void add_tokens(Job& j) {
  std::vector<double> ids, positions, types;
  for (const int length : j.shape.lengths) {
    for (int i = 0; i < length; ++i) {
      ids.push_back(i % 2 == 0 ? 3 : j.data.below(vocabulary(j)));
      positions.push_back(i);
      types.push_back(i < length / 3 ? 0 : 1);
    }
  }
  j.ints("ids", std::move(ids));
  j.ints("positions", std::move(positions));
  j.ints("types", std::move(types));
}

reference::Tokens tokens_of(const Job& j) {
  return {integers(j, "ids"), integers(j, "positions"), integers(j, "types")};
}

class ForwardOp : public OpOf<ForwardOp> {
 public:
  ForwardOp(int C, bool kept) : C_(C), kept_(kept) {}

  std::string label() const override { return fmt::format("C{}{}", C_, kept_ ? "" : "forwardonly"); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    add_tokens(j);
    j.param_f32("position", std::int64_t{kPositions} * C_, 0.5 * shape.scale);
    j.param_f32("type", std::int64_t{kTypes} * C_, 0.5 * shape.scale);
    j.param_f32("gamma", C_, 0.2, 1);
    j.param_f32("beta", C_, 0.5);
    j.param_f32("word", std::int64_t{vocabulary(j)} * C_, shape.scale, shape.offset);
    j.dropout();
    j.out("y", C_);
    if (!kept_) return j;
    j.out("z", C_);
    j.out_per_row("mean");
    j.out_per_row("rstd");
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    EmbeddingLayerNormForward a;
    a.dtype = lane.dtype();
    a.y = lane.at("y");
    if (kept_) {
      a.z = lane.at("z");
      a.stats = lane.stats();
    }
    a.ids = lane.at<const std::int32_t>("ids");
    a.positions = lane.at<const std::int32_t>("positions");
    a.types = lane.at<const std::int32_t>("types");
    a.word = lane.param("word");
    a.position = lane.param("position");
    a.type = lane.param("type");
    a.gamma = lane.param("gamma");
    a.beta = lane.param("beta");
    a.eps = kEps;
    a.C = C_;
    a.drop = lane.drop(kSite);
    a.rows = lane.rows();
    call(ops.embedding_layernorm_forward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const Matrix<T> z =
        reference::embedding_sum<T>(tokens_of(j), matrix<T>(j, "word", vocabulary(j)),
                                    matrix<T>(j, "position", kPositions), matrix<T>(j, "type", kTypes));
    const auto r =
        reference::layernorm_forward<T>(z, row_vector<T>(j, "gamma"), row_vector<T>(j, "beta"), T(kEps),
                                        reference::hidden_factors<T>(j.key(kSite), j.live(), C_), round);
    Expected e;
    e.set("y", r.y);
    if (!kept_) return e;
    e.set("z", r.z);
    // The mean's error follows what it is the mean of.
    e.set("mean", r.mean, z.size() == 0 ? 0 : static_cast<double>(z.cwiseAbs().maxCoeff()));
    e.set("rstd", r.rstd);
    return e;
  }

 private:
  int C_;
  bool kept_;
};

class BackwardOp : public OpOf<BackwardOp> {
 public:
  BackwardOp(int C, bool in_place) : C_(C), in_place_(in_place) {}

  std::string label() const override { return fmt::format("C{}{}", C_, in_place_ ? "inplace" : ""); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    j.rows("dy", C_).role = in_place_ ? Role::kInOut : Role::kIn;
    j.rows("z", C_);
    const auto stats = reference::normalise<double>(matrix<double>(j, "z"), kEps);
    j.saved("mean", Elem::kF32, 1, flat(stats.mean), Tail::kUntouched);
    j.saved("rstd", Elem::kF32, 1, flat(stats.rstd), Tail::kUntouched);
    j.param_f32("gamma", C_, 0.2, 1);
    j.dropout();
    if (!in_place_) j.out("dz", C_);
    j.add({.name = "partial", .place = Place::kBlock, .role = Role::kOut, .columns = 3 * C_});
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    EmbeddingLayerNormBackward a;
    a.dtype = lane.dtype();
    a.dz = lane.at(result());
    a.partial = lane.at<float>("partial");
    a.dy = lane.at("dy");
    a.z = lane.at("z");
    a.stats = lane.stats();
    a.gamma = lane.param("gamma");
    a.C = C_;
    a.drop = lane.drop(kSite);
    a.rows = lane.rows();
    call(ops.embedding_layernorm_backward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const Matrix<T> dy =
        matrix<T>(j, "dy").cwiseProduct(reference::hidden_factors<T>(j.key(kSite), j.live(), C_));
    const auto r = reference::layernorm_backward<T>(dy, matrix<T>(j, "z"), col_vector<T>(j, "mean"),
                                                    col_vector<T>(j, "rstd"), row_vector<T>(j, "gamma"));
    Expected e;
    e.set(result(), round(r.dz));
    const Matrix<T> dgamma = reference::block_sums<T>(r.dgammas);
    Matrix<T> partial(dgamma.rows(), 3 * C_);
    partial << dgamma, reference::block_sums<T>(r.dbetas), Matrix<T>::Zero(dgamma.rows(), C_);
    const Eigen::Index rows = std::min<Eigen::Index>(kRowChunk, dy.rows());  // of the longest sums
    e.set("partial", partial,
          std::max(column_terms(r.dgammas.topRows(rows)), column_terms(r.dbetas.topRows(rows))));
    return e;
  }

 private:
  const char* result() const { return in_place_ ? "dy" : "dz"; }

  int C_;
  bool in_place_;
};

// Gradients of the tables; `frozen` leaves out position and type.
class TablesOp : public OpOf<TablesOp> {
 public:
  TablesOp(int C, bool frozen) : C_(C), frozen_(frozen) {}

  std::string label() const override { return fmt::format("C{}{}", C_, frozen_ ? "frozen" : ""); }
  bool shares_parameters() const override { return false; }  // it has none

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    add_tokens(j);
    j.rows("dz", C_);
    add_chunks(j);
    // The word table is added to in every mode but skip: it has to hold numbers.
    Tensor& dword = j.grad("dword", std::int64_t{vocabulary(j)} * C_);
    for (double& v : dword.values) v = shape.nan ? v : rounded(Elem::kF32, j.data.normal());
    if (frozen_) return j;
    j.grad("dposition", std::int64_t{kPositions} * C_);
    j.grad("dtype_table", std::int64_t{kTypes} * C_);
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    EmbeddingBackward a;
    a.dtype = lane.dtype();
    a.dword = lane.grad("dword");
    if (!frozen_) {
      a.dposition = lane.grad("dposition");
      a.dtype_table = lane.grad("dtype_table");
    }
    a.dz = lane.at("dz");
    a.order = lane.at<const std::int32_t>("order");
    a.chunks = lane.at<const IdChunk>("chunks");
    a.chunk_count = lane.at<const std::int32_t>("chunk_count");
    a.types = lane.at<const std::int32_t>("types");
    a.P = kPositions;
    a.T = kTypes;
    a.C = C_;
    a.seqs = lane.seqs();
    a.rows = lane.rows();
    call(ops.embedding_backward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round) const {
    const Matrix<T> dz = matrix<T>(j, "dz");
    const double terms = column_terms(dz);
    const reference::Tokens tokens = tokens_of(j);
    Expected e;
    if (!j.skips()) {
      Matrix<T> dword = matrix<T>(j, "dword", vocabulary(j));
      reference::embedding_backward<T>(dword, dz, tokens.ids);
      e.set("dword", dword, terms);
    }
    if (frozen_) return e;
    Matrix<T> dposition = Matrix<T>::Zero(kPositions, C_), dtype_table = Matrix<T>::Zero(kTypes, C_);
    reference::embedding_backward<T>(dposition, dz, tokens.positions);
    reference::embedding_backward<T>(dtype_table, dz, tokens.types);
    e.set_gradient<T>(j, "dposition", dposition, terms);
    e.set_gradient<T>(j, "dtype_table", dtype_table, terms);
    return e;
  }

 private:
  static void add_chunks(Job& j) {
    const std::vector<int> ids = integers(j, "ids");
    std::vector<int> order(ids.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return ids[a] < ids[b]; });
    std::vector<double> chunks;
    const int n = static_cast<int>(order.size());
    for (int begin = 0; begin < n;) {
      int end = begin;
      while (end < n && end - begin < kIdChunk && ids[order[end]] == ids[order[begin]]) ++end;
      for (const int field : {ids[order[begin]], begin, end}) chunks.push_back(field);
      begin = end;
    }
    j.ints("order", {order.begin(), order.end()});
    j.entry("chunk_count", Elem::kI32, {static_cast<double>(chunks.size() / 3)});
    chunks.resize(static_cast<std::size_t>(3 * n), 0x7b7b7b7b);  // beyond the count: nobody's
    j.ints("chunks", std::move(chunks)).columns = 3;
  }

  int C_;
  bool frozen_;
};

const Case kTile{"bert_base",
                 {JobShape{.lengths = {128, 128, 44}, .seed = 61}, JobShape{.lengths = {31}, .seed = 62}}};

// Rows of widths that a device may hold in other ways: all but 1024 columns leave a part of it idle.
const Case kWidth{"width", {JobShape{.lengths = {9, 28}, .seed = 63}, JobShape{.lengths = {3}, .seed = 64}}};

SHOAL_OP_LAWS(embedding_layernorm_forward, {{std::make_shared<ForwardOp>(48, true), standard_cases()},
                                            {std::make_shared<ForwardOp>(16, false), standard_cases()},
                                            {std::make_shared<ForwardOp>(400, true), {kWidth}},
                                            {std::make_shared<ForwardOp>(768, true), {kTile}},
                                            {std::make_shared<ForwardOp>(1024, true), {kWidth}},
                                            {std::make_shared<ForwardOp>(1040, true), {kWidth}},
                                            {std::make_shared<ForwardOp>(2064, true), {kWidth}}});
SHOAL_OP_LAWS(embedding_layernorm_backward, {{std::make_shared<BackwardOp>(48, false), standard_cases()},
                                             {std::make_shared<BackwardOp>(128, true), standard_cases()},
                                             {std::make_shared<BackwardOp>(400, false), {kWidth}},
                                             {std::make_shared<BackwardOp>(768, false), {kTile}},
                                             {std::make_shared<BackwardOp>(1024, false), {kWidth}},
                                             {std::make_shared<BackwardOp>(1040, true), {kWidth}},
                                             {std::make_shared<BackwardOp>(2064, false), {kWidth}}});
SHOAL_OP_LAWS(embedding_backward, {{std::make_shared<TablesOp>(48, false), standard_cases()},
                                   {std::make_shared<TablesOp>(16, true), standard_cases()},
                                   {std::make_shared<TablesOp>(272, false), {kTile}},
                                   {std::make_shared<TablesOp>(768, false), {kTile}}});

TEST(embedding_layernorm_forward, Refuses) {
  using A = EmbeddingLayerNormForward;
  Addresses make;
  A good;
  good.y = make.make();
  good.z = make.make();
  good.stats = make.stats();
  good.ids = good.positions = good.types = make.make<std::int32_t>();
  good.word = good.position = good.type = good.gamma = good.beta = make.param(4096);
  good.C = 48;
  good.drop = make.drop();
  good.rows = make.rows();
  const std::string op = "embedding_layernorm_forward: ";
  expect_refusals<A>(
      &OpTable::embedding_layernorm_forward, good,
      {{[](A& a) { a.C = 20; }, op + "C: wanted a positive multiple of 16, got 20"},
       {[](A& a) { a.C = 4112; }, op + "C: wanted 16 .. 4096, got 4112"},
       {[](A& a) { a.y = nullptr; }, op + "y: wanted an address, got null"},
       {[](A& a) { a.ids = nullptr; }, op + "ids: wanted an address, got null"},
       {[](A& a) { a.positions = nullptr; }, op + "positions: wanted an address, got null"},
       {[](A& a) { a.types = nullptr; }, op + "types: wanted an address, got null"},
       {[](A& a) { a.word.base = nullptr; }, op + "word: wanted an address, got null"},
       {[](A& a) { a.position.base = nullptr; }, op + "position: wanted an address, got null"},
       {[](A& a) { a.type.base = nullptr; }, op + "type: wanted an address, got null"},
       {[](A& a) { a.gamma.base = nullptr; }, op + "gamma: wanted an address, got null"},
       {[](A& a) { a.beta.base = nullptr; }, op + "beta: wanted an address, got null"},
       {[](A& a) { a.eps = NAN; }, op + "eps: wanted a number >= 0, got nan"},
       {[](A& a) { a.stats.rstd = nullptr; }, op + "stats.rstd: wanted an address, got null"},
       {[](A& a) { a.z = a.y; }, op + "z: wanted memory apart from y"},
       {[](A& a) { a.drop.update = nullptr; }, op + "drop.update: wanted an address, got null"},
       {[](A& a) { a.rows.W = 0; }, op + "rows.W: wanted at least 1, got 0"}});
}

TEST(embedding_layernorm_backward, Refuses) {
  using A = EmbeddingLayerNormBackward;
  Addresses make;
  A good;
  good.dz = make.make();
  good.partial = make.make<float>();
  good.dy = make.make();
  good.z = make.make();
  good.stats = make.stats();
  good.gamma = make.param(128);
  good.C = 48;
  good.drop = make.drop();
  good.rows = make.rows();
  const std::string op = "embedding_layernorm_backward: ";
  expect_refusals<A>(&OpTable::embedding_layernorm_backward, good,
                     {{[](A& a) { a.C = 20; }, op + "C: wanted a positive multiple of 16, got 20"},
                      {[](A& a) { a.dz = nullptr; }, op + "dz: wanted an address, got null"},
                      {[](A& a) { a.partial = nullptr; }, op + "partial: wanted an address, got null"},
                      {[](A& a) { a.dy = nullptr; }, op + "dy: wanted an address, got null"},
                      {[](A& a) { a.z = nullptr; }, op + "z: wanted an address, got null"},
                      {[](A& a) { a.stats.mean = nullptr; }, op + "stats.mean: wanted an address, got null"},
                      {[](A& a) { a.gamma.base = nullptr; }, op + "gamma: wanted an address, got null"},
                      {[](A& a) { a.dz = const_cast<void*>(a.z); }, op + "dz: wanted memory apart from z"},
                      {[](A& a) { a.rows.live = nullptr; }, op + "rows.live: wanted an address, got null"}});
}

TEST(embedding_backward, Refuses) {
  using A = EmbeddingBackward;
  Addresses make;
  A good;
  good.dword = good.dposition = good.dtype_table = make.grad(64 * 128);
  good.dz = make.make();
  good.order = good.chunk_count = good.types = make.make<std::int32_t>();
  good.chunks = make.make<IdChunk>();
  good.P = 64;
  good.T = 2;
  good.C = 48;
  good.seqs = make.seqs();
  good.rows = make.rows();
  const std::string op = "embedding_backward: ";
  expect_refusals<A>(
      &OpTable::embedding_backward, good,
      {{[](A& a) { a.C = 20; }, op + "C: wanted a positive multiple of 16, got 20"},
       {[](A& a) { a.dz = nullptr; }, op + "dz: wanted an address, got null"},
       {[](A& a) { a.order = nullptr; }, op + "order: wanted an address, got null"},
       {[](A& a) { a.chunks = nullptr; }, op + "chunks: wanted an address, got null"},
       {[](A& a) { a.chunk_count = nullptr; }, op + "chunk_count: wanted an address, got null"},
       {[](A& a) { a.types = nullptr; }, op + "types: wanted an address, got null"},
       {[](A& a) { a.P = 0; }, op + "P: wanted 1 .. "},
       {[](A& a) { a.T = 0; }, op + "T: wanted 1 .. "},
       {[](A& a) { a.dword.mode = nullptr; }, op + "dword.mode: wanted an address, got null"},
       {[](A& a) { a.dposition.stride = 128; }, op + "dposition: wanted a stride of at least 3072"},
       {[](A& a) { a.seqs.cu = nullptr; }, op + "seqs.cu: wanted an address, got null"},
       {[](A& a) { a.rows.W = 0; }, op + "rows.W: wanted at least 1, got 0"}});
}

}  // namespace
}  // namespace shoal::test
