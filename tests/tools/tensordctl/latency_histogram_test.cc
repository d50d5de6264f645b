#include "tools/tensordctl/latency_histogram.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tensord::ctl {
namespace {

TEST(LatencyHistogram, IsEmptyAtFirst) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.QuantileNs(0.5), 0);
  EXPECT_EQ(histogram.max_ns(), 0);
  EXPECT_EQ(histogram.mean_ns(), 0);
}

TEST(LatencyHistogram, KnowsSmallDurationsExactly) {
  LatencyHistogram histogram;
  for (int64_t ns = 1; ns <= 100; ++ns) histogram.Add(ns);
  EXPECT_EQ(histogram.QuantileNs(0), 1);
  EXPECT_EQ(histogram.QuantileNs(0.5), 50);
  EXPECT_EQ(histogram.QuantileNs(0.99), 99);
  EXPECT_EQ(histogram.QuantileNs(1), 100);
  EXPECT_EQ(histogram.min_ns(), 1);
  EXPECT_EQ(histogram.mean_ns(), 50.5);
}

// Around powers of two, where the width of buckets changes.
class LatencyHistogramError : public ::testing::TestWithParam<int64_t> {};

TEST_P(LatencyHistogramError, IsBelowOnePercentAndNeverTooSmall) {
  LatencyHistogram histogram;
  histogram.Add(GetParam());
  // Otherwise the largest would bound it.
  histogram.Add(std::numeric_limits<int64_t>::max());
  const int64_t quantile = histogram.QuantileNs(0.5);
  EXPECT_GE(quantile, GetParam());
  EXPECT_LE(static_cast<double>(quantile),
            static_cast<double>(GetParam()) * 1.01);
}
INSTANTIATE_TEST_SUITE_P(Durations, LatencyHistogramError,
                         ::testing::Values(0, 127, 128, 255, 256, 257, 511, 512,
                                           513, 1'000'000, (int64_t{1} << 40),
                                           (int64_t{1} << 40) + 1,
                                           (int64_t{1} << 41) - 1,
                                           int64_t{3'600'000'000'000}));

TEST(LatencyHistogram, TakesANegativeOneAsZero) {
  LatencyHistogram histogram;
  histogram.Add(-5);
  EXPECT_EQ(histogram.QuantileNs(0.5), 0);
  EXPECT_EQ(histogram.min_ns(), 0);
}

}  // namespace
}  // namespace tensord::ctl
