#include "engine/place/min_cut.h"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;

TEST(MinCut, NodesWithoutEdgesAreAtTheSink) {
  EXPECT_THAT(MinCut(2).Solve(), ElementsAre(true, true));
}

TEST(MinCut, ANodeIsWhereItCostsLess) {
  MinCut cut(2);
  cut.AddCostAtSource(0, 3);
  cut.AddCostAtSink(0, 2);
  cut.AddCostAtSource(1, 1);
  cut.AddCostAtSink(1, 2);
  EXPECT_THAT(cut.Solve(), ElementsAre(true, false));
}

TEST(MinCut, AnEdgeKeepsNodesTogether) {
  MinCut cut(2);
  cut.AddCostAtSink(0, 5);
  cut.AddCostAtSource(1, 2);
  cut.AddEdge(0, 1, std::numeric_limits<double>::infinity());
  EXPECT_THAT(cut.Solve(), ElementsAre(false, false));
}

struct Arc {
  int from, to;
  double capacity;
};

// The least over all divisions of the nodes; -1 is the source, -2 the sink.
double LeastByTrying(int node_count, const std::vector<Arc>& arcs,
                     const std::vector<bool>* only) {
  double least = std::numeric_limits<double>::infinity();
  for (int sides = 0; sides < 1 << node_count; ++sides) {
    const auto is_at_sink = [&](int node) {
      if (node < 0) return node == -2;
      return only != nullptr ? (*only)[node] : (sides >> node & 1) != 0;
    };
    double cost = 0;
    for (const Arc& arc : arcs) {
      if (!is_at_sink(arc.from) && is_at_sink(arc.to)) cost += arc.capacity;
    }
    least = std::min(least, cost);
    if (only != nullptr) break;
  }
  return least;
}

TEST(MinCut, IsTheLeastOfAllCutsOfRandomNetworks) {
  std::mt19937 random(1);
  const auto below = [&](int end) { return static_cast<int>(random() % end); };
  for (int i = 0; i < 300; ++i) {
    const int node_count = 1 + below(9);
    MinCut cut(node_count);
    std::vector<Arc> arcs;
    for (int k = 0; k < 30; ++k) {
      const double capacity = below(1000) / 7.0;
      const int node = below(node_count);
      const int other = below(node_count);
      switch (below(3)) {
        case 0:
          cut.AddCostAtSource(node, capacity);
          arcs.push_back({node, -2, capacity});
          break;
        case 1:
          cut.AddCostAtSink(node, capacity);
          arcs.push_back({-1, node, capacity});
          break;
        default:
          if (node == other) break;
          cut.AddEdge(node, other, capacity);
          arcs.push_back({node, other, capacity});
      }
    }
    const std::vector<bool> found = cut.Solve();
    EXPECT_NEAR(LeastByTrying(node_count, arcs, &found),
                LeastByTrying(node_count, arcs, nullptr), 1e-9);
  }
}

}  // namespace
}  // namespace tensord
