#include "backends/vulkan/hazard_tracker.h"

#include <gtest/gtest.h>

namespace tensord::vulkan {
namespace {

constexpr ByteRange kA = {0, 64};
constexpr ByteRange kB = {64, 128};
constexpr ByteRange kEndOfA = {63, 64};

TEST(HazardTracker, ReadersRunAtOnce) {
  HazardTracker hazards;
  EXPECT_FALSE(hazards.Add({kA}, {kB}));
  EXPECT_FALSE(hazards.Add({kA}, {{128, 192}}));
}

TEST(HazardTracker, AReaderWaitsForItsWriter) {
  HazardTracker hazards;
  EXPECT_FALSE(hazards.Add({}, {kA}));
  EXPECT_TRUE(hazards.Add({kEndOfA}, {kB}));
}

TEST(HazardTracker, AWriterWaitsForReadersAndWriters) {
  HazardTracker after_read;
  EXPECT_FALSE(after_read.Add({kA}, {}));
  EXPECT_TRUE(after_read.Add({}, {kEndOfA}));
  HazardTracker after_write;
  EXPECT_FALSE(after_write.Add({}, {kA}));
  EXPECT_TRUE(after_write.Add({}, {kEndOfA}));
}

TEST(HazardTracker, NeighboursDoNotWait) {
  HazardTracker hazards;
  EXPECT_FALSE(hazards.Add({}, {kA}));
  EXPECT_FALSE(hazards.Add({kB}, {}));
}

TEST(HazardTracker, ABarrierCoversAllThatWasAheadOfIt) {
  HazardTracker hazards;
  EXPECT_FALSE(hazards.Add({}, {kA}));
  EXPECT_FALSE(hazards.Add({}, {kB}));
  EXPECT_TRUE(hazards.Add({kA}, {{128, 192}}));
  EXPECT_FALSE(hazards.Add({kB}, {}));
  // But not what came with it.
  EXPECT_TRUE(hazards.Add({{128, 129}}, {}));
}

TEST(HazardTracker, ManyAccessesGetABarrierInTheEnd) {
  HazardTracker hazards;
  int barriers = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    if (hazards.Add({}, {{i * 64, i * 64 + 64}})) ++barriers;
  }
  EXPECT_GT(barriers, 5);
  EXPECT_LT(barriers, 50);
}

}  // namespace
}  // namespace tensord::vulkan
