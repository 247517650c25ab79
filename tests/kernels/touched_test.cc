// A sparse tensor's shortcuts give the bits of the full formula: adamw and gradient_norm over word embeddings
// of which most rows never occur, told so by marks, left to find out, and as a tensor like any other. And the
// marks are those that embedding_backward should have made.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/embedding_layernorm.h"
#include "kernels/optimizer.h"
#include "tests/support/array.h"
#include "tests/support/op.h"

namespace shoal::test {
namespace {

constexpr std::int64_t kElements = 3 * kParamChunk + 40;  // the last run is not whole
constexpr std::int64_t kStride = 3 * kParamChunk + kTouchRun;

template <typename T>
std::string bits(const Array<T>& array) {
  const std::vector<T> values = array.values();
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

struct Result {
  std::string p, p16, m, v, norms;
  bool operator==(const Result&) const = default;
};

// Five updates; in each a few runs get a gradient, of which some once only.
Result five_updates(Device& device, bool sparse, bool marks, float decay) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> weights(kStride, 0), gradient(kStride, 0);
  std::vector<bf16> rounded_weights(kStride);
  for (std::size_t i = 0; i < kElements; ++i) rounded_weights[i] = bf16(weights[i] = normal(random));
  std::vector<std::uint8_t> touched(kStride / kTouchRun, 0);
  std::vector<ParamChunk> chunks;
  for (std::int64_t begin = 0; begin < kStride; begin += kParamChunk) chunks.push_back({0, begin});

  const Array<float> p(device, weights), m(device, gradient), v(device, gradient), grad(device, gradient);
  const Array<bf16> p16(device, rounded_weights);
  const Array<std::uint8_t> mark(device, touched);
  const Array<ParamSpan> span(device, {ParamSpan{0, 0, kStride, 1, sparse ? 1 : 0}});
  const Array<ParamChunk> chunk(device, chunks);
  const Array<std::int64_t> own(device, {kElements});
  const Array<std::int32_t> slot(device, {0}), update(device, {1}), nonfinite(device, {0});
  const Array<float> norm(device, {0}), coef(device, {0}), max_norm(device, {1}),
      partial(device, std::vector<float>(chunks.size(), 0));
  const Array<AdamWScalars> scalars(device, {AdamWScalars{.beta1 = 0.9f,
                                                          .one_minus_beta1 = 0.1f,
                                                          .beta2 = 0.999f,
                                                          .one_minus_beta2 = 0.001f,
                                                          .eps = 1e-8f,
                                                          .decay = decay,
                                                          .step_size = 1e-2f,
                                                          .bias2_sqrt = 0.5f}});
  const ParamTable table{1, static_cast<int>(chunks.size()), span.data(), chunk.data(), own.data()};
  const std::uint8_t* given = marks ? mark.data() : nullptr;
  const Stream stream = device.make_stream();
  std::string norms;
  for (int t = 1; t <= 5; ++t) {
    for (std::int64_t run = 0; run < kStride / kTouchRun; ++run) {
      const bool occurs = run % 11 == 0 || run == kStride / kTouchRun - 1 || run == 7 * t;
      for (std::int64_t i = run * kTouchRun; i < std::min(kElements, (run + 1) * kTouchRun); ++i)
        gradient[static_cast<std::size_t>(i)] = occurs ? normal(random) : 0.0f;
      if (occurs) touched[static_cast<std::size_t>(run)] = 1;
    }
    device.copy(grad.data(), gradient.data(), gradient.size() * sizeof(float), stream);
    device.copy(mark.data(), touched.data(), touched.size(), stream);
    device.ops().gradient_norm({.norm = norm.data(),
                                .coef = coef.data(),
                                .nonfinite = nonfinite.data(),
                                .partial = partial.data(),
                                .grad = grad.data(),
                                .stride = kStride,
                                .touched = given,
                                .table = table,
                                .W = 1,
                                .slot = slot.data(),
                                .update = update.data(),
                                .max_norm = max_norm.data()},
                               stream);
    device.ops().adamw({.p = p.data(),
                        .p16 = p16.data(),
                        .m = m.data(),
                        .v = v.data(),
                        .grad = grad.data(),
                        .row_stride = kStride,
                        .train_stride = kStride,
                        .touched = given,
                        .table = table,
                        .W = 1,
                        .slot = slot.data(),
                        .update = update.data(),
                        .coef = coef.data(),
                        .nonfinite = nonfinite.data(),
                        .scalars = scalars.data()},
                       stream);
    device.synchronize(stream);
    norms += bits(norm) + bits(coef);
  }
  device.release(stream);
  return {bits(p), bits(p16), bits(m), bits(v), norms};
}

TEST(Touched, ShortcutsGiveTheBitsOfTheFullFormula) {
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    for (const float decay : {1.0f, 0.99f}) {
      const Result full = five_updates(*device, false, false, decay);
      EXPECT_TRUE(five_updates(*device, true, false, decay) == full) << name << ", sparse, decay " << decay;
      EXPECT_TRUE(five_updates(*device, true, true, decay) == full) << name << ", marks, decay " << decay;
    }
  }
}

// The marks of two slots after one micro-batch: entry 0 is slot 1 and skips, entry 1 is slot 0 and has `ids`,
// ascending, each on several rows.
std::vector<std::uint8_t> marks_after(Device& device, int C, const std::vector<std::int32_t>& ids,
                                      const std::vector<std::uint8_t>& before) {
  constexpr std::int64_t kRows = 128;
  const DType dtype = own_dtype(device);
  const std::int64_t stride = static_cast<std::int64_t>(before.size()) / 2 * kTouchRun;
  const std::int32_t n = static_cast<std::int32_t>(ids.size()), rows_of_id = 2;
  std::vector<IdChunk> chunk(static_cast<std::size_t>(2 * kRows), IdChunk{-1, 0, 0});
  std::vector<std::int32_t> ascending(static_cast<std::size_t>(2 * kRows), 0);
  for (std::int32_t i = 0; i < n; ++i) {
    for (const std::int64_t row0 : {std::int64_t{0}, kRows})
      chunk[static_cast<std::size_t>(row0 + i)] = {ids[static_cast<std::size_t>(i)], i * rows_of_id,
                                                   (i + 1) * rows_of_id};
  }
  for (std::int32_t i = 0; i < n * rows_of_id; ++i)
    for (const std::int64_t row0 : {std::int64_t{0}, kRows})
      ascending[static_cast<std::size_t>(row0 + i)] = i;
  const Array<std::uint8_t> touched(device, before);
  const Array<float> dword(device, std::vector<float>(static_cast<std::size_t>(2 * stride), 0));
  const Array<std::byte> dz(device,
                            std::vector<std::byte>(static_cast<std::size_t>(2 * kRows * C) * size_of(dtype)));
  const Array<GradMode> mode(device, {GradMode::kSkip, GradMode::kAdd});
  const Array<std::int32_t> slot(device, {1, 0}), row0(device, {0, kRows, 2 * kRows}),
      live(device, {n * rows_of_id, n * rows_of_id}), count(device, {n, n}), order(device, ascending);
  const Array<IdChunk> chunks(device, chunk);
  EmbeddingBackward a;
  a.dtype = dtype;
  a.dword = {dword.data(), stride, mode.data()};
  a.touched = touched.data();
  a.dz = dz.data();
  a.order = order.data();
  a.chunks = chunks.data();
  a.chunk_count = count.data();
  a.C = C;
  a.rows = {2, 2 * kRows, slot.data(), row0.data(), live.data()};
  const Stream stream = device.make_stream();
  call(device.ops().embedding_backward, a, stream);
  device.synchronize(stream);
  device.release(stream);
  return touched.values();
}

// Rows of the table that share a run, that fill several, and that lie apart; marks from before stay.
TEST(Touched, EmbeddingBackwardMarksTheRunsOfItsIds) {
  constexpr std::size_t kRuns = 64;  // of a slot
  const std::vector<std::int32_t> ids{0, 1, 2, 3, 4, 9, 10, 12, 15, 31};
  for (const std::string& name : test_devices()) {
    const auto device = make_device(name);
    for (const int C : {16, 48, 80, 128, 176, 256}) {
      std::vector<std::uint8_t> before(2 * kRuns, 0);
      before[kRuns - 1] = before[kRuns + 5] = 1;
      std::vector<std::uint8_t> wanted = before;
      for (const std::int32_t id : ids) {
        for (std::int64_t i = std::int64_t{id} * C; i < std::int64_t{id + 1} * C; ++i)
          wanted[static_cast<std::size_t>(i / kTouchRun)] = 1;
      }
      EXPECT_EQ(marks_after(*device, C, ids, before), wanted) << name << ' ' << C;
    }
  }
}

}  // namespace
}  // namespace shoal::test
