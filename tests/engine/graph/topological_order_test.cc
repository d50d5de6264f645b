#include "engine/graph/topological_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tensord {
namespace {

using testing::AnyOf;
using testing::ElementsAre;

TEST(TopologicalOrderTest, AnOrderThatIsRightStaysAsItIs) {
  EXPECT_THAT(SortNodes({{}, {0}, {}, {1, 2}, {0}}).order,
              ElementsAre(0, 1, 2, 3, 4));
}

TEST(TopologicalOrderTest, ProducersComeFirstAndTheRestKeepsItsOrder) {
  EXPECT_THAT(SortNodes({{3}, {}, {0}, {}}).order, ElementsAre(1, 3, 0, 2));
}

TEST(TopologicalOrderTest, ANodeThatReadsAProducerTwiceWaitsOnce) {
  EXPECT_THAT(SortNodes({{1, 1}, {}}).order, ElementsAre(1, 0));
}

TEST(TopologicalOrderTest, NamesANodeOnTheCycleAndNotOneBehindIt) {
  // 4 depends on the cycle 1 -> 2 -> 3 -> 1 and is not on it.
  EXPECT_THAT(SortNodes({{4}, {3}, {1}, {2}, {3}, {}}).node_on_cycle,
              AnyOf(1, 2, 3));
  EXPECT_EQ(SortNodes({{0}}).node_on_cycle, 0);
  EXPECT_EQ(SortNodes({}).node_on_cycle, -1);
}

TEST(TopologicalOrderTest, AChainOf200000NodesNeedsNoCallStack) {
  constexpr int32_t kNodes = 200'000;
  std::vector<std::vector<int32_t>> producers(kNodes);
  for (int32_t i = 0; i + 1 < kNodes; ++i) producers[i] = {i + 1};
  EXPECT_EQ(SortNodes(producers).order.front(), kNodes - 1);
  producers[kNodes - 1] = {0};
  EXPECT_GE(SortNodes(producers).node_on_cycle, 0);
}

}  // namespace
}  // namespace tensord
