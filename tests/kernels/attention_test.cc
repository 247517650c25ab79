#include "kernels/reference/attention.h"

#include "tests/support/op.h"
#include "tests/support/refusals.h"

namespace shoal::test {
namespace {

constexpr std::uint32_t kSite = 5;

template <typename T>
reference::AttentionShape<T> shape_of(const Job& j, int H, int D, bool drops) {
  reference::AttentionShape<T> shape{.H = H, .D = D, .cu = j.cu, .factors = {}, .scale = T(1)};
  if (drops) {
    const reference::DropoutKey key = j.key(kSite);
    shape.scale = T(static_cast<float>(key.scale()));
    shape.factors = [key](int b, int head, int length) {
      return reference::attention_factors<T>(key, static_cast<std::uint32_t>(b),
                                             static_cast<std::uint32_t>(head), length);
    };
  }
  return shape;
}

// q, k, v that make scores of a few units; the "large" case makes them of some thousand units.
void add_qkv(Job& j, int C) {
  Tensor& qkv = j.rows("qkv", 3 * C);
  for (double& v : qkv.values) v = rounded(qkv.elem, (v - j.shape.offset) * 0.5 + j.shape.offset / 50);
}

// The terms of the scores, of which lse is made: q k^T / sqrt(D) by heads.
template <typename T>
double score_terms(const Matrix<T>& qkv, int H, int D) {
  double terms = 0;
  for (int head = 0; head < H; ++head) {
    terms = std::max(terms, product_terms(qkv.middleCols(head * D, D), qkv.middleCols((H + head) * D, D)));
  }
  return terms / std::sqrt(D);
}

class AttentionForwardOp : public OpOf<AttentionForwardOp> {
 public:
  AttentionForwardOp(int H, int D, bool drops) : H_(H), D_(D), drops_(drops) {}

  std::string label() const override { return fmt::format("H{}D{}{}", H_, D_, drops_ ? "dropout" : ""); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    add_qkv(j, H_ * D_);
    j.dropout();
    j.out("o", H_ * D_);
    j.out_per_row("lse", H_);
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    AttentionForward a;
    a.dtype = lane.dtype();
    a.o = lane.at("o");
    a.lse = lane.at<float>("lse");
    a.qkv = lane.at("qkv");
    a.H = H_;
    a.D = D_;
    a.seqs = lane.seqs();
    if (drops_) a.drop = lane.drop(kSite);
    a.rows = lane.rows();
    call(ops.attention_forward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const Matrix<T> qkv = matrix<T>(j, "qkv");
    const auto r = reference::attention_forward<T>(qkv, shape_of<T>(j, H_, D_, drops_), round);
    Expected e;
    // An error of the scores is a relative one of the probabilities, thus of o, which v's size bounds.
    const double v_size =
        qkv.size() == 0 ? 0 : static_cast<double>(qkv.rightCols(H_ * D_).cwiseAbs().maxCoeff());
    e.set("o", r.o, score_terms(qkv, H_, D_) * v_size);
    e.set("lse", r.lse, score_terms(qkv, H_, D_));
    return e;
  }

 private:
  int H_, D_;
  bool drops_;
};

class AttentionBackwardOp : public OpOf<AttentionBackwardOp> {
 public:
  AttentionBackwardOp(int H, int D, bool drops) : H_(H), D_(D), drops_(drops) {}

  std::string label() const override { return fmt::format("H{}D{}{}", H_, D_, drops_ ? "dropout" : ""); }

  Job job(const JobShape& shape, DType dtype) const override {
    Job j(shape, dtype);
    const int C = H_ * D_;
    add_qkv(j, C);
    j.dropout();
    const auto forward =
        reference::attention_forward<double>(matrix<double>(j, "qkv"), shape_of<double>(j, H_, D_, drops_));
    j.saved("o", elem_of(dtype), C, flat(forward.o));
    j.saved("lse", Elem::kF32, H_, flat(forward.lse), Tail::kUntouched);
    j.rows("dout", C);
    j.out("dqkv", 3 * C);
    return j;
  }

  void launch(Lane& lane, const OpTable& ops, Stream stream) const override {
    AttentionBackward a;
    a.dtype = lane.dtype();
    a.dqkv = lane.at("dqkv");
    a.dout = lane.at("dout");
    a.qkv = lane.at("qkv");
    a.o = lane.at("o");
    a.lse = lane.at<float>("lse");
    a.H = H_;
    a.D = D_;
    a.seqs = lane.seqs();
    if (drops_) a.drop = lane.drop(kSite);
    a.rows = lane.rows();
    call(ops.attention_backward, a, stream);
  }

  template <typename T, typename Round>
  Expected reference(const Job& j, Round round) const {
    const Matrix<T> qkv = matrix<T>(j, "qkv");
    const Matrix<T> dqkv =
        reference::attention_backward<T>(matrix<T>(j, "dout"), qkv, matrix<T>(j, "o"), matrix<T>(j, "lse"),
                                         shape_of<T>(j, H_, D_, drops_), round);
    // As o: the gradient is linear in the probabilities.
    const double size = dqkv.size() == 0 ? 0 : static_cast<double>(dqkv.cwiseAbs().maxCoeff());
    Expected e;
    e.set("dqkv", dqkv, score_terms(qkv, H_, D_) * size);
    return e;
  }

 private:
  int H_, D_;
  bool drops_;
};

// Every list of the work lists, and lengths around the tiles of 16.
const Case kLists{
    "lists",
    {JobShape{.lengths = {32, 33, 64, 65}, .seed = 31}, JobShape{.lengths = {128, 129}, .seed = 32},
     JobShape{.lengths = {15, 16, 17, 31, 1}, .seed = 33}}};
const Case kTile{"bert_base", {JobShape{.lengths = {128, 40, 128}, .seed = 34}}};

std::vector<Case> cases() {
  std::vector<Case> all = standard_cases();
  all.push_back(kLists);
  return all;
}

SHOAL_OP_LAWS(attention_forward, {{std::make_shared<AttentionForwardOp>(2, 16, true), cases()},
                                  {std::make_shared<AttentionForwardOp>(1, 32, false), cases()},
                                  {std::make_shared<AttentionForwardOp>(2, 128, true), {kLists}},
                                  {std::make_shared<AttentionForwardOp>(12, 64, true), {kTile}}});
SHOAL_OP_LAWS(attention_backward, {{std::make_shared<AttentionBackwardOp>(2, 16, true), cases()},
                                   {std::make_shared<AttentionBackwardOp>(1, 32, false), cases()},
                                   {std::make_shared<AttentionBackwardOp>(2, 128, true), {kLists}},
                                   {std::make_shared<AttentionBackwardOp>(12, 64, true), {kTile}}});

// The same text among others of its own job, at any place: the same bits (without dropout, whose table
// counts sequences).
TEST(attention_forward, GivesASequenceTheSameBitsWhateverStandsBesideIt) {
  const AttentionForwardOp op(2, 16, false);
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    const Stream stream = device->make_stream();
    for (const int length : {1, 16, 17, 65, 129, 336}) {
      std::vector<std::byte> first;
      for (const std::vector<int>& before : {std::vector<int>{}, {7}, {0, 130, 3}}) {
        JobShape shape{.lengths = before};
        shape.lengths.push_back(length);
        shape.lengths.push_back(20);
        Job job = op.job(shape, own_dtype(*device));
        // The sequence's own data, wherever it begins.
        Tensor& qkv = job.tensors[0];
        const std::size_t begin = static_cast<std::size_t>(job.cu[before.size()]) * 96;
        Random data(99);
        for (std::size_t i = 0; i < static_cast<std::size_t>(length) * 96; ++i) {
          qkv.values[begin + i] = rounded(qkv.elem, data.normal());
        }
        Lane lane(*device, {job});
        run(lane, *device, op);
        const std::vector<std::byte> o = lane.bits(0).at("o");
        const int row_bytes = 32 * static_cast<int>(size_of(job.dtype));
        const auto from = o.begin() + job.cu[before.size()] * row_bytes;
        const std::vector<std::byte> own(from, from + length * row_bytes);
        if (first.empty()) first = own;
        EXPECT_TRUE(first == own) << name << ", length " << length << " after " << before.size();
      }
    }
    device->release(stream);
  }
}

TEST(attention_forward, Refuses) {
  using A = AttentionForward;
  Addresses make;
  A good;
  good.o = make.make();
  good.lse = make.make<float>();
  good.qkv = make.make();
  good.H = 2;
  good.D = 16;
  good.seqs = make.seqs();
  good.drop = make.drop();
  good.rows = make.rows();
  const std::string op = "attention_forward: ";
  expect_refusals<A>(
      &OpTable::attention_forward, good,
      {{[](A& a) { a.D = 48; }, op + "D: wanted one of 16, 32, 64, 128, got 48"},
       {[](A& a) { a.H = 0; }, op + "H: wanted 1 .. 256, got 0"},
       {[](A& a) { a.H = 257; }, op + "H: wanted 1 .. 256, got 257"},
       {[](A& a) { a.o = nullptr; }, op + "o: wanted an address, got null"},
       {[](A& a) { a.lse = nullptr; }, op + "lse: wanted an address, got null"},
       {[](A& a) { a.qkv = nullptr; }, op + "qkv: wanted an address, got null"},
       {[](A& a) { a.seqs.B = 0; }, op + "seqs.B: wanted 1 .. 65535, got 0"},
       {[](A& a) { a.seqs.B = 65536; }, op + "seqs.B: wanted 1 .. 65535, got 65536"},
       {[](A& a) { a.seqs.cu = nullptr; }, op + "seqs.cu: wanted an address, got null"},
       {[](A& a) { a.seqs.count = nullptr; }, op + "seqs.count: wanted an address, got null"},
       {[](A& a) { a.seqs.items[2] = nullptr; }, op + "seqs.items: wanted an address, got null"},
       {[](A& a) { a.seqs.item_count = nullptr; }, op + "seqs.item_count: wanted an address"},
       {[](A& a) { a.drop.threshold = nullptr; }, op + "drop.threshold: wanted an address"},
       {[](A& a) { a.drop.site = 65536; }, op + "drop.site: wanted 0 .. 65535, got 65536"},
       {[](A& a) { a.o = const_cast<void*>(a.qkv); }, op + "o: wanted memory apart from qkv"},
       {[](A& a) { a.rows.W = 0; }, op + "rows.W: wanted at least 1, got 0"}});
}

TEST(attention_backward, Refuses) {
  using A = AttentionBackward;
  Addresses make;
  A good;
  good.dqkv = make.make();
  good.dout = make.make();
  good.qkv = make.make();
  good.o = make.make();
  good.lse = make.make<float>();
  good.H = 2;
  good.D = 16;
  good.seqs = make.seqs();
  good.drop = make.drop();
  good.rows = make.rows();
  const std::string op = "attention_backward: ";
  expect_refusals<A>(
      &OpTable::attention_backward, good,
      {{[](A& a) { a.D = 20; }, op + "D: wanted one of 16, 32, 64, 128, got 20"},
       {[](A& a) { a.H = 300; }, op + "H: wanted 1 .. 256, got 300"},
       {[](A& a) { a.dqkv = nullptr; }, op + "dqkv: wanted an address, got null"},
       {[](A& a) { a.dout = nullptr; }, op + "dout: wanted an address, got null"},
       {[](A& a) { a.qkv = nullptr; }, op + "qkv: wanted an address, got null"},
       {[](A& a) { a.o = nullptr; }, op + "o: wanted an address, got null"},
       {[](A& a) { a.lse = nullptr; }, op + "lse: wanted an address, got null"},
       {[](A& a) { a.seqs.B = -1; }, op + "seqs.B: wanted 1 .. 65535, got -1"},
       {[](A& a) { a.drop.update = nullptr; }, op + "drop.update: wanted an address"},
       {[](A& a) { a.drop.micro = nullptr; }, op + "drop.micro: wanted an address"},
       {[](A& a) { a.dqkv = const_cast<void*>(a.qkv); }, op + "dqkv: wanted memory apart from qkv"},
       {[](A& a) { a.dqkv = const_cast<void*>(a.dout); }, op + "dqkv: wanted memory apart from dout"},
       {[](A& a) { a.dqkv = const_cast<void*>(a.o); }, op + "dqkv: wanted memory apart from o"},
       {[](A& a) { a.rows.rows = 127; }, op + "rows.rows: wanted a positive multiple of 128"}});
}

}  // namespace
}  // namespace shoal::test
