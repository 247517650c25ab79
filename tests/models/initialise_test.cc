// Random initialisation: Hugging Face's distribution, and every element a function of (seed, name, index)
// alone.
#include <cmath>
#include <cstring>
#include <numbers>

#include "kernels/base/philox.h"
#include "models/weights.h"
#include "tests/models/support.h"

namespace shoal::models {
namespace {

std::vector<float> normal(const std::string& name, std::uint64_t seed, std::size_t size) {
  std::vector<float> values(size);
  initialise({.hf_name = name, .rows = static_cast<std::int64_t>(size)}, seed, 0.02, -1, values);
  return values;
}

TEST(Initialise, FollowsTheDocumentedRule) {
  EXPECT_EQ(name_hash(""), 0xcbf29ce484222325u);  // FNV-1a's published test values
  EXPECT_EQ(name_hash("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(name_hash("foobar"), 0x85944171f73967e8u);
  const std::vector<float> values = normal("classifier.weight", 0x123456789abcdefu, 10);
  const std::uint64_t h = name_hash("classifier.weight");
  const Philox4 v = philox4x32_10(0x123456789abcdefu, 1, 0x494e4954u, static_cast<std::uint32_t>(h),
                                  static_cast<std::uint32_t>(h >> 32));
  const double radius = std::sqrt(-2 * std::log((v.v[2] + 0.5) / 4294967296.0));
  const double angle = 2 * std::numbers::pi * (v.v[3] + 0.5) / 4294967296.0;
  // One float rounding of a double that may differ in its last bits.
  EXPECT_NEAR(values[6], 0.02 * radius * std::cos(angle), 1e-9);
  EXPECT_NEAR(values[7], 0.02 * radius * std::sin(angle), 1e-9);
}

TEST(Initialise, ElementsDoNotDependOnTheSizeOfTheirTensor) {
  const std::vector<float> all = normal("w", 1, 1000);
  for (const std::size_t size : {1, 3, 4, 5, 999}) {
    const std::vector<float> part = normal("w", 1, size);
    EXPECT_EQ(std::memcmp(all.data(), part.data(), size * sizeof(float)), 0) << size;
  }
}

TEST(Initialise, SeedAndNameChangeEveryElement) {
  const std::vector<float> a = normal("w", 1, 1000), b = normal("w", 2, 1000), c = normal("x", 1, 1000);
  const std::vector<float> d = normal("w", 1ull << 32 | 1, 1000);  // the upper half of the seed counts
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i] != b[i] && a[i] != c[i] && a[i] != d[i]) << i;
}

TEST(Initialise, IsNormalWithTheGivenRange) {
  const std::vector<float> values = normal("w", 3, 400000);
  double sum = 0, squares = 0, fourth = 0, neighbours = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = values[i] / 0.02;
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    if (i > 0) neighbours += x * values[i - 1] / 0.02;
  }
  // Standard errors at n = 400,000: 0.0016, 0.0022, 0.0155, 0.0016; five of them each.
  const double n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, 0.0, 0.008);
  EXPECT_NEAR(squares / n, 1.0, 0.011);
  EXPECT_NEAR(fourth / n, 3.0, 0.08);
  EXPECT_NEAR(neighbours / n, 0.0, 0.008);
}

TEST(Initialise, RowHasHuggingFacesKindsAndZerosBetween) {
  const BertConfig config = small_config();
  const Layout layout = layout_of(config);
  const Extents own{3, 10};
  std::vector<float> row(static_cast<std::size_t>(layout.row_elements()), NAN);
  initialise_row(layout, own, config, 7, row);
  std::vector<bool> owned(row.size());
  for (const Part& part : parts_of(layout, own)) {
    for (std::int64_t i = part.offset; i < part.offset + part.elements; ++i)
      owned[static_cast<std::size_t>(i)] = true;
    const float first = row[static_cast<std::size_t>(part.offset)];
    const std::string& name = part.spec->hf_name;
    if (name.ends_with("LayerNorm.weight")) {
      EXPECT_EQ(first, 1.0f) << name;
    } else if (name.ends_with("bias") || name.ends_with("word_embeddings.weight")) {
      EXPECT_EQ(first, 0.0f) << name << ": of the word embeddings, the padding row";
    } else {
      EXPECT_NE(first, 0.0f) << name;
    }
  }
  const Tensor& words = layout["embeddings.word"];
  for (std::int64_t i = 0; i < 10 * 8; ++i)
    EXPECT_EQ(row[static_cast<std::size_t>(words.offset + i)] == 0.0f, i < 8)
        << "only row 0 is zero: element " << i;
  for (std::size_t i = 0; i < row.size(); ++i) ASSERT_TRUE(owned[i] || row[i] == 0.0f) << i;
}

TEST(Initialise, NeighboursInTheGroupChangeNothing) {
  const BertConfig config = small_config();
  const Layout narrow = layout_of(config, {3, 10}), wide = layout_of(config, {150, 999});
  const Extents own{3, 10};
  std::vector<float> a(static_cast<std::size_t>(narrow.row_elements())),
      b(static_cast<std::size_t>(wide.row_elements()));
  initialise_row(narrow, own, config, 7, a);
  initialise_row(wide, own, config, 7, b);
  const std::vector<Part> parts_a = parts_of(narrow, own), parts_b = parts_of(wide, own);
  for (std::size_t p = 0; p < parts_a.size(); ++p)
    EXPECT_EQ(std::memcmp(a.data() + parts_a[p].offset, b.data() + parts_b[p].offset,
                          static_cast<std::size_t>(parts_a[p].elements) * sizeof(float)),
              0)
        << parts_a[p].spec->hf_name;
}

}  // namespace
}  // namespace shoal::models
