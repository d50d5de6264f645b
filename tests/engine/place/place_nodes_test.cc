#include "engine/place/place_nodes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/place/random_placement.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;

constexpr int32_t kHost = PlacementTransfer::kHost;

// Device 0 is the host's, device 1 is behind a link of 1 us and 1 byte/ns.
PlacementProblem HostAndFarDevice() {
  PlacementProblem problem;
  problem.devices = {{.is_host = true},
                     {.copy_latency_ns = 1000, .copy_bytes_per_ns = 1}};
  return problem;
}

PlacementNode NodeOf(int32_t input, int32_t output, double host_ns,
                     double far_ns) {
  PlacementNode node;
  node.inputs = {input};
  node.outputs = {output};
  node.device_ns = {host_ns, far_ns};
  return node;
}

// Input 0, results of 100 bytes, one after the other; the last is the client's.
PlacementProblem Chain(std::vector<std::pair<double, double>> node_ns) {
  PlacementProblem problem = HostAndFarDevice();
  problem.values.push_back({.size_bytes = 100, .is_on_host = true});
  for (const auto& [host_ns, far_ns] : node_ns) {
    const auto value = static_cast<int32_t>(problem.values.size());
    problem.nodes.push_back(NodeOf(value - 1, value, host_ns, far_ns));
    problem.values.push_back({.size_bytes = 100});
  }
  problem.values.back().is_result = true;
  return problem;
}

TEST(PlaceNodes, AnEmptyGraphCostsNothing) {
  const auto placement = PlaceNodes(HostAndFarDevice());
  ASSERT_TRUE(placement.ok()) << placement.status();
  EXPECT_EQ(placement->total_ns, 0);
}

TEST(PlaceNodes, AFastDeviceGetsANodeOnlyWhenItsCopiesPay) {
  // There and back is 2 * (1000 + 100) ns.
  const auto stays = PlaceNodes(Chain({{2000, 10}}));
  ASSERT_TRUE(stays.ok()) << stays.status();
  EXPECT_THAT(stays->devices, ElementsAre(0));
  EXPECT_EQ(stays->total_ns, 2000);
  EXPECT_TRUE(stays->transfers.empty());

  const auto goes = PlaceNodes(Chain({{2500, 10}}));
  ASSERT_TRUE(goes.ok()) << goes.status();
  EXPECT_THAT(goes->devices, ElementsAre(1));
  EXPECT_EQ(goes->total_ns, 10 + 2 * 1100);
  ASSERT_EQ(goes->transfers.size(), 2);
  EXPECT_EQ(goes->transfers[0].from, kHost);
  EXPECT_EQ(goes->transfers[0].to, 1);
  EXPECT_EQ(goes->transfers[0].before_node, 0);
  EXPECT_EQ(goes->transfers[1].from, 1);
  EXPECT_EQ(goes->transfers[1].to, kHost);
  EXPECT_EQ(goes->transfers[1].before_node, 1);
}

// Each node alone would stay; only the group's move pays.
TEST(PlaceNodes, NodesMoveTogether) {
  const auto placement = PlaceNodes(Chain({{900, 10}, {900, 10}, {900, 10}}));
  ASSERT_TRUE(placement.ok()) << placement.status();
  EXPECT_THAT(placement->devices, ElementsAre(1, 1, 1));
  EXPECT_EQ(placement->total_ns, 30 + 2 * 1100);
}

TEST(PlaceNodes, AWeightThatIsResidentIsFree) {
  PlacementProblem problem = Chain({{2500, 10}});
  problem.nodes[0].inputs.push_back(2);
  problem.values.push_back({.size_bytes = 1 << 20, .is_on_host = true});
  EXPECT_THAT(PlaceNodes(problem)->devices, ElementsAre(0));
  problem.values[2].resident_devices = 1 << 1;
  EXPECT_THAT(PlaceNodes(problem)->devices, ElementsAre(1));
}

TEST(PlaceNodes, AValueIsCopiedOnceForAllItsReaders) {
  PlacementProblem problem = HostAndFarDevice();
  problem.values = {{.size_bytes = 1000, .is_on_host = true}};
  for (int i = 0; i < 4; ++i) {
    problem.values.push_back({.size_bytes = 0, .is_result = false});
    problem.nodes.push_back(NodeOf(0, i + 1, 600, 10));
  }
  const auto placement = PlaceNodes(problem);
  ASSERT_TRUE(placement.ok()) << placement.status();
  EXPECT_THAT(placement->devices, ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(placement->total_ns, 2000 + 4 * 10);
}

TEST(PlaceNodes, FromDeviceToDeviceByWayOfTheHost) {
  PlacementProblem problem = Chain({{1, 1}, {1, 1}});
  problem.devices.push_back({.copy_latency_ns = 50, .copy_bytes_per_ns = 2});
  problem.nodes[0].device_ns = {std::nullopt, 1, std::nullopt};
  problem.nodes[1].device_ns = {std::nullopt, std::nullopt, 1};
  const auto placement = PlaceNodes(problem);
  ASSERT_TRUE(placement.ok()) << placement.status();
  // Up to 1, down from 1, up to 2, down from 2.
  EXPECT_EQ(placement->total_ns, 1100 + 1 + 1100 + 100 + 1 + 100);
  EXPECT_EQ(placement->transfers.size(), 4);
}

TEST(PlaceNodes, AWantedDeviceGetsWhatItHasKernelsFor) {
  PlacementProblem problem = Chain({{10, 5000}, {10, 5000}});
  problem.wanted_devices = 1 << 1;
  EXPECT_THAT(PlaceNodes(problem)->devices, ElementsAre(1, 1));
  problem.nodes[1].device_ns[1].reset();
  EXPECT_THAT(PlaceNodes(problem)->devices, ElementsAre(1, 0));
}

TEST(PlaceNodes, AMalformedProblemIsRefusedWithItsNumbers) {
  PlacementProblem problem = Chain({{10, 10}});
  problem.nodes[0].device_ns = {std::nullopt, std::nullopt};
  EXPECT_TRUE(absl::IsUnimplemented(PlaceNodes(problem).status()));
  problem.nodes[0].device_ns = {0.0, 10.0};
  EXPECT_TRUE(absl::StrContains(PlaceNodes(problem).status().message(),
                                "node 0 is estimated to take 0 ns"));
  problem.nodes[0].device_ns = {10.0};
  EXPECT_TRUE(absl::IsInvalidArgument(PlaceNodes(problem).status()));
  problem = Chain({{10, 10}});
  problem.nodes[0].inputs[0] = 7;
  EXPECT_TRUE(absl::StrContains(PlaceNodes(problem).status().message(),
                                "reads value 7"));
  problem = Chain({{10, 10}, {10, 10}});
  problem.nodes[1].outputs[0] = 1;
  EXPECT_TRUE(absl::IsInvalidArgument(PlaceNodes(problem).status()));
  problem = Chain({{10, 10}});
  problem.devices[1].copy_bytes_per_ns = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(PlaceNodes(problem).status()));
}

TEST(PlaceNodes, EstimatesThatAreNoTimesAreRefused) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (double ns : {kInfinity, std::nan(""), 1e300}) {
    PlacementProblem problem = Chain({{10, 10}});
    problem.nodes[0].device_ns[1] = ns;
    EXPECT_TRUE(absl::IsInvalidArgument(PlaceNodes(problem).status())) << ns;
    problem = Chain({{10, 10}});
    problem.devices[1].copy_latency_ns = ns;
    EXPECT_TRUE(absl::IsInvalidArgument(PlaceNodes(problem).status())) << ns;
  }
  PlacementProblem problem = Chain({{10, 10}});
  problem.devices[1].copy_latency_ns = -1e9;
  EXPECT_TRUE(absl::IsInvalidArgument(PlaceNodes(problem).status()));
}

TEST(PlaceNodes, AResidentDevicePastTheLastIsRefused) {
  PlacementProblem problem = Chain({{10, 10}});
  problem.values[0].resident_devices = 1u << problem.devices.size();
  EXPECT_TRUE(absl::StrContains(PlaceNodes(problem).status().message(),
                                "past the last of 2"));
}

std::vector<int32_t> EachWhereItIsQuickest(const PlacementProblem& problem) {
  std::vector<int32_t> devices;
  for (const PlacementNode& node : problem.nodes) {
    int32_t quickest = 0;  // device 0 has all kernels
    for (size_t d = 1; d < node.device_ns.size(); ++d) {
      if (node.device_ns[d].value_or(1e30) < *node.device_ns[quickest]) {
        quickest = static_cast<int32_t>(d);
      }
    }
    devices.push_back(quickest);
  }
  return devices;
}

double CostOf(const PlacementProblem& problem,
              const std::vector<int32_t>& devices) {
  return PlacementNs(problem, devices, TransfersOf(problem, devices));
}

class AgainstBruteForce : public ::testing::TestWithParam<int> {};

TEST_P(AgainstBruteForce, IsWithinFivePercentFor200RandomGraphs) {
  std::mt19937 random(7 * GetParam());
  double worst = 1;
  int greedy_failures = 0;
  for (int i = 0; i < 200; ++i) {
    const PlacementProblem problem =
        RandomPlacement({.node_count = 4 + i % 9,
                         .device_count = GetParam(),
                         .is_chain = i % 4 == 0},
                        random);
    const double least = LeastPlacementNs(problem);
    const auto placement = PlaceNodes(problem);
    ASSERT_TRUE(placement.ok()) << placement.status();
    // What is claimed is what a walk over the nodes counts.
    ASSERT_NEAR(placement->total_ns,
                WalkPlacementNs(problem, placement->devices), 1e-6 * least);
    ASSERT_GE(placement->total_ns, least * (1 - 1e-9));
    worst = std::max(worst, placement->total_ns / least);
    const std::vector<int32_t> greedy = EachWhereItIsQuickest(problem);
    greedy_failures += CostOf(problem, greedy) > 1.05 * least;
  }
  // Two devices are one cut, which is exact.
  EXPECT_LE(worst, GetParam() == 2 ? 1 + 1e-9 : 1.05);
  RecordProperty("worst", std::to_string(worst));
  // The negative control: the graphs are not such that anything does.
  EXPECT_GT(greedy_failures, 100);
}

INSTANTIATE_TEST_SUITE_P(Devices, AgainstBruteForce, ::testing::Values(2, 3));

TEST(PlaceNodes, IsTheSameEveryTime) {
  std::mt19937 random(3);
  const PlacementProblem problem =
      RandomPlacement({.node_count = 300, .device_count = 3}, random);
  const auto first = PlaceNodes(problem);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(PlaceNodes(problem)->devices, first->devices);
  }
}

// What sanitizers make of a second.
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr int kSlowdown = 20;
#else
constexpr int kSlowdown = 1;
#endif

// Far from what it takes, but a cost that grows as the square would show.
TEST(PlaceNodes, FiveThousandNodesArePlacedSoon) {
  for (bool is_chain : {false, true}) {
    std::mt19937 random(5);
    const PlacementProblem problem = RandomPlacement(
        {.node_count = 5000, .device_count = 3, .is_chain = is_chain}, random);
    const absl::Time start = absl::Now();
    ASSERT_TRUE(PlaceNodes(problem).ok());
    EXPECT_LT(absl::Now() - start, kSlowdown * absl::Seconds(20)) << is_chain;
  }
}

}  // namespace
}  // namespace tensord
