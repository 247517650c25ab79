// Philox against the known answers of Random123, and the dropout table made of it.
#include "kernels/base/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kernels/reference/dropout.h"

namespace shoal {
namespace {

using reference::DropoutKey;
using Factors = reference::Matrix<double>;

void expect_words(const Philox4& r, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  EXPECT_EQ(r.v[0], a);
  EXPECT_EQ(r.v[1], b);
  EXPECT_EQ(r.v[2], c);
  EXPECT_EQ(r.v[3], d);
}

TEST(Philox, GivesTheKnownAnswers) {
  expect_words(philox4x32_10(0, 0, 0, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
  const std::uint32_t ones = 0xffffffff;
  expect_words(philox4x32_10(~std::uint64_t{0}, ones, ones, ones, ones), 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
               0x6d5451fd);
  // Digits of pi, key (a4093822, 299f31d0).
  expect_words(philox4x32_10(0x299f31d0a4093822u, 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344), 0xd16cfe09,
               0x94fdcceb, 0x5001e420, 0x24126ea1);
}

TEST(Philox, GivesEightHalvesOfACall) {
  const Philox4 r{{0x00020001, 0x00040003, 0x00060005, 0x00080007}};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(philox_u16(r, i), static_cast<std::uint32_t>(i + 1));
}

TEST(Dropout, RoundsItsThreshold) {
  EXPECT_EQ(dropout_threshold(0), 65536u);
  EXPECT_EQ(dropout_threshold(0.1), 58982u);
  EXPECT_EQ(dropout_threshold(0.5), 32768u);
  EXPECT_EQ(DropoutKey{}.scale(), 1.0);
}

// The share kept is binomial: five standard deviations, which chance passes once in a million seeds.
TEST(Dropout, KeepsItsShareAndItsExpectation) {
  for (const double p : {0.1, 0.5, 0.9}) {
    const DropoutKey key{.seed = 42, .update = 3, .micro = 1, .site = 7, .threshold = dropout_threshold(p)};
    const double keep = key.threshold / 65536.0;
    const auto expect = [&](const Factors& f) {
      const double n = static_cast<double>(f.size()), kept = (f.array() != 0).cast<double>().mean();
      EXPECT_NEAR(kept, keep, 5 * std::sqrt(keep * (1 - keep) / n)) << p;
      EXPECT_NEAR(f.mean(), 1.0, 5 * std::sqrt((1 - keep) / keep / n)) << p;
      EXPECT_EQ(f.maxCoeff(), static_cast<double>(static_cast<float>(1 / keep)));
    };
    expect(reference::hidden_factors<double>(key, 100, 768));
    expect(reference::attention_factors<double>(key, 2, 1, 250));
  }
}

TEST(Dropout, KeepsEverythingAtTheFullThreshold) {
  EXPECT_TRUE((reference::hidden_factors<double>({.seed = 1}, 9, 64).array() == 1).all());
  EXPECT_TRUE((reference::attention_factors<double>({.seed = 1}, 0, 0, 33).array() == 1).all());
}

// Case 74: masks differ by seed, update, micro-batch and site, and by nothing else.
TEST(Dropout, DiffersByEachPartOfItsKey) {
  const DropoutKey base{.seed = 42, .update = 3, .micro = 1, .site = 7, .threshold = 32768};
  DropoutKey seed = base, high_seed = base, update = base, micro = base, site = base;
  seed.seed += 1;
  high_seed.seed += std::uint64_t{1} << 40;
  update.update += 1;
  micro.micro += 1;
  site.site += 1;
  const auto share_equal = [](const Factors& a, const Factors& b) {
    return (a.array() == b.array()).cast<double>().mean();
  };
  const Factors hidden = reference::hidden_factors<double>(base, 64, 64);
  const Factors attention = reference::attention_factors<double>(base, 1, 1, 64);
  EXPECT_EQ(share_equal(hidden, reference::hidden_factors<double>(base, 64, 64)), 1);
  const double deviation = 0.5 / std::sqrt(64.0 * 64.0);  // of the share that two fair coins agree
  for (const DropoutKey& other : {seed, high_seed, update, micro, site}) {
    EXPECT_NEAR(share_equal(hidden, reference::hidden_factors<double>(other, 64, 64)), 0.5, 5 * deviation);
    EXPECT_NEAR(share_equal(attention, reference::attention_factors<double>(other, 1, 1, 64)), 0.5,
                5 * deviation);
  }
  for (const auto& [sequence, head] : {std::pair{0u, 1u}, std::pair{1u, 0u}, std::pair{2u, 1u}}) {
    EXPECT_NEAR(share_equal(attention, reference::attention_factors<double>(base, sequence, head, 64)), 0.5,
                5 * deviation);
  }
}

// The 256 elements of a 16 x 16 tile are the 8 places of 32 lanes, each once.
TEST(Dropout, CoversATileOfAttentionOnce) {
  std::set<std::pair<std::uint32_t, int>> places;
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) places.emplace(attention_dropout_lane(i, j), attention_dropout_slot(i, j));
  }
  EXPECT_EQ(places.size(), 256u);
  EXPECT_EQ(*places.begin(), (std::pair{0u, 0}));
  EXPECT_EQ(*places.rbegin(), (std::pair{31u, 7}));
}

}  // namespace
}  // namespace shoal
