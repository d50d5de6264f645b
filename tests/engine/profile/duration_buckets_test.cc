#include "engine/profile/duration_buckets.h"

#include <algorithm>
#include <cstdint>

#include "gtest/gtest.h"

namespace tensord::op_profile {
namespace {

size_t BucketBySearch(uint64_t duration_ns) {
  return std::lower_bound(kDurationEdgesNs.begin(), kDurationEdgesNs.end(),
                          duration_ns) -
         kDurationEdgesNs.begin();
}

TEST(DurationBuckets, ReachFrom100NanosecondsTo60SecondsInAtMost16Edges) {
  EXPECT_EQ(kDurationEdgesNs.front(), 100);
  EXPECT_EQ(kDurationEdgesNs.back(), 60'000'000'000);
  EXPECT_LE(kDurationEdgeCount, 16);
  EXPECT_TRUE(std::is_sorted(kDurationEdgesNs.begin(), kDurationEdgesNs.end()));
}

TEST(DurationBuckets, AnEdgeBelongsToItsOwnBucketAndTheNextValueToTheNext) {
  for (size_t i = 0; i < kDurationEdgeCount; ++i) {
    EXPECT_EQ(DurationBucket(kDurationEdgesNs[i] - 1), i);
    EXPECT_EQ(DurationBucket(kDurationEdgesNs[i]), i);
    EXPECT_EQ(DurationBucket(kDurationEdgesNs[i] + 1), i + 1);
  }
}

TEST(DurationBuckets, TheTableAgreesWithASearchAroundEveryPowerOfTwo) {
  EXPECT_EQ(DurationBucket(0), 0);
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    for (uint64_t value : {power - 1, power, power + 1, power + power / 2}) {
      EXPECT_EQ(DurationBucket(value), BucketBySearch(value)) << value;
    }
  }
  EXPECT_EQ(DurationBucket(UINT64_MAX), kDurationEdgeCount);
}

}  // namespace
}  // namespace tensord::op_profile
