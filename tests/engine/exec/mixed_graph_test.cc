// Graphs whose nodes run partly on a device whose memory the host does not
// address, and partly on the host, because the device has no kernel for them.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/exec/compiled_run.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/execution_rig.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr DType kF32 = DType::kFloat32;
constexpr DeviceId kFake{BackendId::kVulkan, 0};
constexpr DeviceId kCpu{BackendId::kCpu, 0};

// The fake device has Add, Mul, MatMul, Relu, Identity and NonZero of float32;
// everything else is the processor's.
class MixedGraphTest : public testing::Test {
 protected:
  MixedGraphTest() { rig_.options().disabled_passes = {"fuse_elementwise"}; }

  FakeControl& control() { return backend_.control(0); }

  std::vector<DeviceId> DevicesOf(const CompiledGraph& graph) {
    std::vector<DeviceId> devices;
    for (const ExplainedNode& node : graph.explanation.nodes) {
      if (!node.kernel.empty()) devices.push_back(node.device);
    }
    return devices;
  }

  uint64_t Launches(OpKind op, DeviceId device) {
    uint64_t launches = 0;
    for (const op_profile::OpRow& row : rig_.profile().Snapshot().ops) {
      if (row.op == op && row.device == device) launches += row.launches;
    }
    return launches;
  }

  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> cpu_ = MakeCpuBackend({.workers = &workers_}, {});
  FakeBackend backend_{BackendId::kVulkan};
  ExecutionRig rig_{backend_, &workers_, cpu_.get()};
};

// y = relu(x) + -relu(x), the middle of it on the host.
TestGraph ThereAndBack() {
  return TestGraph()
      .Input("x", kF32, {4})
      .Node("Relu", {"x"}, {"a"})
      .Node("Neg", {"a"}, {"b"})
      .Node("Add", {"a", "b"}, {"y"})
      .Output("y")
      .Output("b");
}

TEST_F(MixedGraphTest, ANodeWithoutAKernelRunsOnTheHost) {
  const auto graph = rig_.Compile(ThereAndBack(), {Shape({4})});
  EXPECT_THAT(DevicesOf(*graph), ElementsAre(kFake, kCpu, kFake));
  EXPECT_EQ(graph->host_step_count, 1);
  const auto outputs =
      rig_.PreparedOutputs(graph, {Tensor({4}, {-1, 0, 2, 3})});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0], Near({0, 0, 0, 0}, 0));
  EXPECT_THAT((*outputs)[1], Near({0, 0, -2, -3}, 0));
}

TEST_F(MixedGraphTest, WithoutAHostDeviceItIsRefused) {
  rig_.environment().host = nullptr;
  EXPECT_THAT(rig_.TryPlan(ThereAndBack(), {Shape({4})}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("Neg")));
}

TEST_F(MixedGraphTest, ANodeThatNothingHasAKernelForIsRefusedForTheDevice) {
  const auto refused = rig_.TryPlan(TestGraph()
                                        .Input("x", DType::kString, {4})
                                        .Node("Neg", {"x"}, {"y"})
                                        .Output("y"),
                                    {Shape({4})});
  EXPECT_FALSE(refused.ok());
}

TEST_F(MixedGraphTest, EachValueCrossesOnceEachWayAndIsExplained) {
  const auto graph = rig_.Compile(TestGraph()
                                      .Input("x", kF32, {4})
                                      .Node("Relu", {"x"}, {"a"})
                                      .Node("Neg", {"a"}, {"b"})
                                      .Node("Abs", {"a"}, {"c"})
                                      .Node("Add", {"b", "c"}, {"d"})
                                      .Node("Mul", {"b", "d"}, {"y"})
                                      .Output("y"),
                                  {Shape({4})});
  std::vector<std::string> crossings;
  for (const ExplainedTransfer& transfer : graph->explanation.transfers) {
    crossings.push_back(transfer.value + (transfer.is_to_host ? " <" : " >") +
                        std::to_string(transfer.before_launch));
    EXPECT_EQ(transfer.size_bytes, 16);
    EXPECT_GT(transfer.estimated_ns, 0);
  }
  EXPECT_THAT(crossings, ElementsAre("x >0", "a <1", "b >3", "c >3", "y <5"));
  EXPECT_EQ(graph->transfers.count, 5);
  EXPECT_EQ(graph->transfers.bytes, 5 * 16);

  const int64_t copies = control().counts().copies_enqueued;
  const int64_t events = control().counts().completions_recorded;
  ASSERT_THAT(rig_.PreparedOutputs(graph, {Tensor({4}, {1, 2, 3, 4})}), IsOk());
  EXPECT_EQ(control().counts().copies_enqueued - copies, 5);
  EXPECT_EQ(control().counts().completions_recorded - events, 2)
      << "one wait before the host's steps, and one at the end";
  EXPECT_EQ(rig_.slot().uploaded_bytes(), 3 * 16);
  EXPECT_EQ(rig_.slot().downloaded_bytes(), 2 * 16);
}

TEST_F(MixedGraphTest, WhatOnlyTheHostTouchesNeverGoesToTheDevice) {
  const auto graph = rig_.Compile(TestGraph()
                                      .Input("x", kF32, {4})
                                      .Constant("c", Tensor({4}, {1, 2, 3, 4}))
                                      .Node("Sub", {"x", "c"}, {"y"})
                                      .Output("y")
                                      .Output("x")
                                      .Output("c"),
                                  {Shape({4})});
  EXPECT_THAT(graph->explanation.transfers, IsEmpty());
  EXPECT_EQ(graph->arena_bytes, 0);
  EXPECT_THAT(graph->weights, IsEmpty());
  const int64_t copies = control().counts().copies_enqueued;
  const auto outputs = rig_.PreparedOutputs(graph, {Tensor({4}, {4, 4, 4, 4})});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0], Near({3, 2, 1, 0}, 0));
  EXPECT_THAT((*outputs)[1], Near({4, 4, 4, 4}, 0));
  EXPECT_THAT((*outputs)[2], Near({1, 2, 3, 4}, 0));
  EXPECT_EQ(control().counts().copies_enqueued, copies);
}

TEST_F(MixedGraphTest, StepsOfASideStandTogether) {
  // In the graph's own order the sides alternate.
  const auto graph = rig_.Compile(TestGraph()
                                      .Input("x", kF32, {4})
                                      .Node("Relu", {"x"}, {"a"})
                                      .Node("Neg", {"x"}, {"b"})
                                      .Node("Mul", {"a", "a"}, {"c"})
                                      .Node("Abs", {"b"}, {"d"})
                                      .Node("Add", {"c", "d"}, {"y"})
                                      .Output("y"),
                                  {Shape({4})});
  EXPECT_THAT(DevicesOf(*graph), ElementsAre(kFake, kFake, kCpu, kCpu, kFake));
  EXPECT_THAT(graph->first.stretches, SizeIs(3));
  const auto outputs =
      rig_.PreparedOutputs(graph, {Tensor({4}, {-1, 0, 1, 2})});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0], Near({1, 0, 2, 6}, 0));
}

TEST_F(MixedGraphTest, StepsOnTheHostAreChargedToTheProcessor) {
  ASSERT_THAT(rig_.profile().Configure({.mode = op_profile::Mode::kFull}),
              IsOk());
  const auto graph = rig_.Compile(ThereAndBack(), {Shape({4})});
  for (int run = 0; run < 3; ++run) {
    ASSERT_THAT(rig_.PreparedOutputs(graph, {Tensor({4}, {1, 2, 3, 4})}),
                IsOk());
  }
  EXPECT_EQ(Launches(OpKind::kNeg, kCpu), 3);
  EXPECT_EQ(Launches(OpKind::kNeg, kFake), 0);
  EXPECT_EQ(Launches(OpKind::kAdd, kFake), 3);
}

TEST_F(MixedGraphTest, ATraceHasTheStepsOfBothSidesInOrder) {
  const auto graph = rig_.Compile(ThereAndBack(), {Shape({4})});
  Execution execution;
  execution.trace = std::make_unique<op_profile::TraceBuffer>(16, true);
  execution.inputs.push_back(rig_.Value(Tensor({4}, {1, 1, 1, 1})));
  ASSERT_THAT(rig_.Run(execution, graph), IsOk());
  std::vector<uint32_t> nodes;
  std::vector<bool> have_device_times;
  for (const auto& row : execution.trace->rows()) {
    nodes.push_back(row.node_index);
    have_device_times.push_back(row.device_ns >= 0);
  }
  EXPECT_THAT(nodes, ElementsAre(0, 1, 2));
  // The second is the host's.
  EXPECT_THAT(have_device_times, ElementsAre(true, false, true));
}

// NonZero of int64 is the processor's: its extents are told on the host, and
// the segment behind them begins with a copy of that size.
TEST_F(MixedGraphTest, ExtentsThatTheHostTellsSpecialiseTheDevicesSegment) {
  const auto graph =
      rig_.Compile(TestGraph()
                       .Input("x", kF32, {6})
                       .Constant("two", Tensor({1}, {2}))
                       .Node("Relu", {"x"}, {"a"})
                       .Node("Cast", {"a"}, {"i"}, {{"to", int64_t{7}}})
                       .Node("NonZero", {"i"}, {"indices"})
                       .Node("Cast", {"indices"}, {"f"}, {{"to", int64_t{1}}})
                       .Node("Mul", {"f", "two"}, {"y"})
                       .Output("y"),
                   {Shape({6})});
  EXPECT_EQ(graph->later_segments->segment_count(), 2);
  const auto run = [&](const std::vector<float>& x) {
    const auto outputs = rig_.PreparedOutputs(graph, {Tensor({6}, x)});
    EXPECT_THAT(outputs, IsOk());
    return (*outputs)[0];
  };
  const TestTensor some = run({0, 5, 0, -1, 2, 0});
  EXPECT_EQ(some.shape, Shape({1, 2}));
  EXPECT_THAT(some, Near({2, 8}, 0));
  EXPECT_EQ(run({0, 0, 0, 0, 0, -1}).shape, Shape({1, 0}));
  EXPECT_THAT(run({1, 1, 1, 1, 1, 1}), Near({0, 2, 4, 6, 8, 10}, 0));
}

// The condition is computed on the device, its branches run on both sides.
TEST_F(MixedGraphTest, StagesOfControlFlowAreMixedToo) {
  const TestGraph body = TestGraph()
                             .Formal("i")
                             .Formal("go_on")
                             .Formal("v")
                             .Node("Neg", {"v"}, {"n"})
                             .Node("Add", {"n", "n"}, {"w"})
                             .Node("Identity", {"go_on"}, {"still"})
                             .Output("still")
                             .Output("w");
  const auto outputs = rig_.Outputs(
      TestGraph()
          .Input("x", kF32, {2})
          .Input("trips", DType::kInt64, {})
          .Node("Relu", {"x"}, {"a"})
          .Node("Loop", {"trips", "", "a"}, {"y"}, {{"body", body.body()}})
          .Output("y"),
      {Tensor({2}, {1, 3}), Tensor<int64_t>(Shape(), {3})});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0], Near({-8, -24}, 0));
}

TEST_F(MixedGraphTest, ACancellationEndsTheWaitBeforeAStepOnTheHost) {
  const auto graph = rig_.Compile(ThereAndBack(), {Shape({4})});
  control().HangLaunch(0);
  Execution execution;
  execution.deadline = absl::Now() + absl::Milliseconds(30);
  execution.inputs.push_back(rig_.Value(Tensor({4}, {1, 1, 1, 1})));
  EXPECT_THAT(rig_.Run(execution, graph),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("")));
  EXPECT_TRUE(rig_.lane_is_busy());
  control().ReleaseHang();
  ASSERT_THAT(rig_.slot().lane().Drain(absl::InfiniteFuture()), IsOk());
  EXPECT_EQ(control().counts().dropped_in_flight, 0);
}

TEST_F(MixedGraphTest, AKernelsErrorOnTheHostIsTheRunsAndNamesTheNode) {
  const auto status =
      rig_.Outputs(TestGraph()
                       .Input("x", kF32, {4})
                       .Input("at", DType::kInt64, {1})
                       .Node("Relu", {"x"}, {"a"})
                       .Node("Gather", {"a", "at"}, {"y"}, {}, "pick")
                       .Output("y"),
                   {Tensor({4}, {1, 2, 3, 4}), Tensor<int64_t>({1}, {9})})
          .status();
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("pick")));
}

TEST_F(MixedGraphTest, AFaultOfTheDeviceEndsARunThatIsOnTheHost) {
  const auto graph = rig_.Compile(ThereAndBack(), {Shape({4})});
  control().FailLaunch(1);
  EXPECT_THAT(rig_.PreparedOutputs(graph, {Tensor({4}, {1, 1, 1, 1})}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("")));
}

// Graphs of random nodes of both sides, with views, values read many times,
// and outputs that are inputs, constants and each other, give what the
// processor alone gives. Each runs three times, over what earlier runs left.
class RandomMixedGraphTest : public MixedGraphTest {
 protected:
  TestGraph Random(std::mt19937& random) {
    TestGraph graph;
    std::vector<std::string> values{"x0", "x1", "c"};
    graph.Input("x0", kF32, {2, 4})
        .Input("x1", kF32, {2, 4})
        .Constant("c", Tensor({2, 4}, {1, -1, 2, -2, 3, -3, 0.5, -0.5}));
    const auto any = [&] { return values[random() % values.size()]; };
    const int count = 1 + static_cast<int>(random() % 24);
    for (int i = 0; i < count; ++i) {
      static constexpr const char* kOps[] = {"Relu", "Identity", "Neg", "Abs",
                                             "Add",  "Mul",      "Sub", "Max"};
      const size_t op = random() % 8;
      const std::string name = "v" + std::to_string(i);
      std::vector<std::string> inputs{any()};
      // Products by a constant alone stay in range.
      if (op >= 4) inputs.push_back(op == 5 ? "c" : any());
      graph.Node(kOps[op], inputs, {name});
      values.push_back(name);
    }
    std::vector<std::string> outputs{values.back()};
    for (int i = 0; i < 3; ++i) {
      const std::string output = any();
      if (std::find(outputs.begin(), outputs.end(), output) == outputs.end()) {
        outputs.push_back(output);
      }
    }
    for (const std::string& output : outputs) graph.Output(output);
    return graph;
  }
};

TEST_F(RandomMixedGraphTest, GiveWhatTheProcessorGives) {
  ExecutionRig alone(*cpu_, &workers_);
  alone.options() = rig_.options();
  rig_.options().disabled_passes.insert("fold_constants");
  int mixed_count = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const TestGraph graph = Random(random);
    const auto compiled = rig_.Compile(graph, {Shape({2, 4}), Shape({2, 4})});
    mixed_count += compiled->first.stretches.size() > 1;
    for (int run = 0; run < 3; ++run) {
      std::vector<float> x;
      for (int i = 0; i < 16; ++i) {
        x.push_back(static_cast<float>(static_cast<int>(random() % 9)) - 4);
      }
      const std::vector<TestTensor> inputs{
          Tensor({2, 4}, {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]}),
          Tensor({2, 4},
                 {x[8], x[9], x[10], x[11], x[12], x[13], x[14], x[15]})};
      const auto expected = alone.Outputs(graph, inputs);
      ASSERT_THAT(expected, IsOk());
      const auto found = rig_.PreparedOutputs(compiled, inputs);
      ASSERT_THAT(found, IsOk());
      ASSERT_EQ(found->size(), expected->size());
      for (size_t i = 0; i < found->size(); ++i) {
        EXPECT_THAT((*found)[i], IsNear((*expected)[i], {0, 0}))
            << "output " << i;
      }
    }
  }
  EXPECT_GT(mixed_count, 100) << "the graphs hardly change sides";
  EXPECT_EQ(control().counts().dropped_in_flight, 0);
}

}  // namespace
}  // namespace tensord
