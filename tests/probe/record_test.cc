#include "bench/probe/record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace shoal::probe {
namespace {

Measure full() {
  return Measure("bandwidth.copy", "GB/s", {4, 3, 5, 9})
      .with("blocks", 528)
      .with("ratio", 0.5)
      .with("same", true)
      .with("algo", "id=66 tile=20");
}

TEST(Record, ALineSurvivesTheWayToJsonAndBack) {
  const Measure back = measure_from_json(to_json(full()));
  EXPECT_EQ(back.name, "bandwidth.copy");
  EXPECT_EQ(back.unit, "GB/s");
  EXPECT_EQ(back.value.median, 4);
  EXPECT_EQ(back.value.low, 3);
  EXPECT_EQ(back.value.high, 5);
  EXPECT_EQ(back.value.runs, 9);
  EXPECT_EQ(back.details, full().details);
}

TEST(Record, ALineOfFactsHasNoMedian) {
  const auto j = nlohmann::json::parse(to_json(Measure("device", "").with("sms", 132)));
  EXPECT_FALSE(j.contains("median"));
  EXPECT_EQ(j.at("details").at("sms"), 132);
}

TEST(Record, JsonIsOneLineWhateverTheTextHolds) {
  const std::string line = to_json(Measure("device", "").with("name", "a\nb\xFF"));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_NO_THROW(measure_from_json(line));
}

TEST(Record, WhatIsNotANumberStaysVisible) {
  const Measure back = measure_from_json(to_json(Measure("x", "us", {NAN, 1, 2, 3}).with("y", NAN)));
  EXPECT_TRUE(std::isnan(back.value.median));
  EXPECT_EQ(back.value.low, 1);
}

TEST(Record, TheTableShowsMedianSpreadAndDetails) {
  const std::string line = table_line(full());
  for (const char* part : {"bandwidth.copy", "GB/s", "x9", "blocks=528", "same=yes", "algo=id=66"}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << " is not in " << line;
  }
}

}  // namespace
}  // namespace shoal::probe
