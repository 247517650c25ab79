// A sparse tensor's shortcuts give the bits of the full formula: adamw and gradient_norm over word embeddings
// of which most rows never occur, told so by marks, left to find out, and as a tensor like any other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/optimizer.h"

namespace shoal::test {
namespace {

constexpr std::int64_t kElements = 3 * kParamChunk + 40;  // the last run is not whole
constexpr std::int64_t kStride = 3 * kParamChunk + kTouchRun;

template <typename T>
class Block {
 public:
  Block(Device& device, std::int64_t n) : device_(device), n_(n) {
    data_ = static_cast<T*>(device.allocate(Memory::kDevice, static_cast<std::size_t>(n) * sizeof(T)));
    std::memset(static_cast<void*>(data_), 0, static_cast<std::size_t>(n) * sizeof(T));
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { device_.release(Memory::kDevice, data_); }
  T* get() { return data_; }
  T& operator[](std::int64_t i) { return data_[i]; }
  std::string bits() const {
    return {reinterpret_cast<const char*>(data_), static_cast<std::size_t>(n_) * sizeof(T)};
  }

 private:
  Device& device_;
  std::int64_t n_;
  T* data_;
};

struct Result {
  std::string p, p16, m, v, norms;
  bool operator==(const Result&) const = default;
};

// Five updates; in each a few runs get a gradient, of which some once only.
Result five_updates(bool sparse, bool marks, float decay) {
  const std::unique_ptr<Device> device = make_device("cpu", {.threads = 2});
  const Stream stream = device->make_stream();
  Block<float> p(*device, kStride), m(*device, kStride), v(*device, kStride), grad(*device, kStride);
  Block<bf16> p16(*device, kStride);
  Block<std::uint8_t> touched(*device, kStride / kTouchRun);
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < kElements; ++i) p16[i] = bf16(p[i] = normal(random));

  ParamSpan span{.offset = 0, .train_offset = 0, .capacity = kStride, .decay = 1, .sparse = sparse ? 1 : 0};
  std::vector<ParamChunk> chunks;
  for (std::int64_t begin = 0; begin < kStride; begin += kParamChunk) chunks.push_back({0, begin});
  const std::int64_t own = kElements;
  const ParamTable table{.tensors = 1,
                         .chunks = static_cast<int>(chunks.size()),
                         .span = &span,
                         .chunk = chunks.data(),
                         .own = &own};
  const std::int32_t slot = 0, update = 1;
  const float max_norm = 1.0f;
  Block<float> partial(*device, table.chunks);
  Result result;
  for (int t = 1; t <= 5; ++t) {
    for (std::int64_t run = 0; run < kStride / kTouchRun; ++run) {
      const bool occurs = run % 11 == 0 || run == kStride / kTouchRun - 1 || run == 7 * t;
      for (std::int64_t i = run * kTouchRun; i < std::min(kElements, (run + 1) * kTouchRun); ++i)
        grad[i] = occurs ? normal(random) : 0.0f;
      if (occurs) touched[run] = 1;
    }
    float norm = 0, coef = 0;
    std::int32_t nonfinite = 0;
    const std::uint8_t* given = marks ? touched.get() : nullptr;
    device->ops().gradient_norm({.norm = &norm,
                                 .coef = &coef,
                                 .nonfinite = &nonfinite,
                                 .partial = partial.get(),
                                 .grad = grad.get(),
                                 .stride = kStride,
                                 .touched = given,
                                 .table = table,
                                 .W = 1,
                                 .slot = &slot,
                                 .update = &update,
                                 .max_norm = &max_norm},
                                stream);
    const AdamWScalars scalars{.beta1 = 0.9f,
                               .one_minus_beta1 = 0.1f,
                               .beta2 = 0.999f,
                               .one_minus_beta2 = 0.001f,
                               .eps = 1e-8f,
                               .decay = decay,
                               .step_size = 1e-2f,
                               .bias2_sqrt = 0.5f};
    device->ops().adamw({.p = p.get(),
                         .p16 = p16.get(),
                         .m = m.get(),
                         .v = v.get(),
                         .grad = grad.get(),
                         .row_stride = kStride,
                         .train_stride = kStride,
                         .touched = given,
                         .table = table,
                         .W = 1,
                         .slot = &slot,
                         .update = &update,
                         .coef = &coef,
                         .nonfinite = &nonfinite,
                         .scalars = &scalars},
                        stream);
    result.norms += fmt::format("{} {} ", norm, coef);
  }
  result = {p.bits(), p16.bits(), m.bits(), v.bits(), result.norms};
  device->release(stream);
  return result;
}

TEST(Touched, ShortcutsGiveTheBitsOfTheFullFormula) {
  for (const float decay : {1.0f, 0.99f}) {
    const Result full = five_updates(false, false, decay);
    EXPECT_TRUE(five_updates(true, false, decay) == full) << "sparse, decay " << decay;
    EXPECT_TRUE(five_updates(true, true, decay) == full) << "sparse with marks, decay " << decay;
  }
}

}  // namespace
}  // namespace shoal::test
