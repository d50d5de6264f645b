#include "server/metrics/page.h"

#include <algorithm>
#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/metrics/byte_buckets.h"
#include "tests/server/metrics/page_text.h"

namespace tensord::metrics {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ByteBuckets, AgreeWithASearchOverTheirEdges) {
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    for (uint64_t bytes : {power - 1, power, power + 1}) {
      size_t expected = 0;
      while (expected < ByteBuckets::kEdgeCount &&
             bytes > ByteBuckets::Edge(expected)) {
        ++expected;
      }
      EXPECT_EQ(ByteBuckets::Index(bytes), expected) << bytes;
    }
  }
  EXPECT_EQ(ByteBuckets::Index(UINT64_MAX), ByteBuckets::kEdgeCount);
}

TEST(Page, AHistogramIsCumulativeInSecondsAndEndsWithInfinity) {
  op_profile::DurationHistogram durations;
  durations.counts[0] = 2;   // up to 100 ns
  durations.counts[2] = 3;   // up to 1.5 us
  durations.counts[16] = 1;  // over 60 s
  durations.sum_ns = 70'000'000'000;
  SeriesBudget budget(100);
  Page page(budget);
  EXPECT_TRUE(page.Add(MetricId::kQueueWait, {"cpu:0"}, durations));
  const std::string text = PageText(std::move(page).Finish());
  EXPECT_THAT(text,
              AllOf(HasSubstr("# TYPE tensord_queue_wait_seconds histogram"),
                    HasSubstr("_bucket{device=\"cpu:0\",le=\"1e-07\"} 2\n"),
                    HasSubstr("_bucket{device=\"cpu:0\",le=\"4e-07\"} 2\n"),
                    HasSubstr("_bucket{device=\"cpu:0\",le=\"1.5e-06\"} 5\n"),
                    HasSubstr("_bucket{device=\"cpu:0\",le=\"60\"} 5\n"),
                    HasSubstr("_bucket{device=\"cpu:0\",le=\"+Inf\"} 6\n"),
                    HasSubstr("_count{device=\"cpu:0\"} 6\n"),
                    HasSubstr("_sum{device=\"cpu:0\"} 70\n")));
  EXPECT_EQ(Samples(text).size(), kHistogramSeries);
  EXPECT_EQ(budget.used(), kHistogramSeries);
}

TEST(Page, AFamilyWithoutRowsIsNotThere) {
  SeriesBudget budget(100);
  Page page(budget);
  page.Add(MetricId::kGraphCacheHits, {}, 3);
  const std::string text = PageText(std::move(page).Finish());
  EXPECT_THAT(text, HasSubstr("\ntensord_graph_cache_hits_total 3\n"));
  EXPECT_THAT(text, Not(HasSubstr("tensord_graph_cache_misses_total")));
}

TEST(Page, ARowThatTheBudgetDoesNotAdmitIsLeftOutForGood) {
  SeriesBudget budget(1);
  {
    Page page(budget);
    EXPECT_TRUE(page.Add(MetricId::kQueueDepth, {"cpu:0"}, 1));
    EXPECT_FALSE(page.Add(MetricId::kQueueDepth, {"cpu:1"}, 1));
  }
  Page page(budget);
  EXPECT_FALSE(page.Add(MetricId::kQueueDepth, {"cpu:1"}, 1));
  EXPECT_TRUE(page.Add(MetricId::kQueueDepth, {"cpu:0"}, 1));
  EXPECT_EQ(budget.used(), 1);
  EXPECT_EQ(budget.refused_rows(), 1);
}

}  // namespace
}  // namespace tensord::metrics
