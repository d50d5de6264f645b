#include "engine/exec/executor.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
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

constexpr DType kF32 = DType::kFloat32;

using Rig = ExecutionRig;

TestGraph ScaleAndShift() {
  return TestGraph()
      .Input("x", kF32, {"N"})
      .Constant("scale", Tensor({1}, {2}))
      .Constant("shift", Tensor({1}, {-3}))
      .Node("Mul", {"x", "scale"}, {"a"})
      .Node("Add", {"a", "shift"}, {"b"})
      .Node("Relu", {"b"}, {"y"})
      .Output("y");
}

class ExecutorTest : public testing::Test {
 protected:
  FakeControl& control() { return backend_.control(0); }

  FakeBackend backend_{BackendId::kVulkan};
  Rig rig_{backend_};
};

TEST_F(ExecutorTest, ComputesOnADeviceThatTheHostCannotAddress) {
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  Execution execution;
  execution.inputs.push_back(rig_.Value(Tensor({4}, {0, 1, 2, 3})));
  ASSERT_THAT(rig_.Run(execution, graph), IsOk());
  EXPECT_THAT(Rig::Floats(execution.outputs[0]), ElementsAre(0, 0, 1, 3));
}

TEST_F(ExecutorTest, RecordsOneEventForAWholeSegment) {
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  const int64_t before = control().counts().completions_recorded;
  Execution execution;
  execution.inputs.push_back(rig_.Value(Tensor({4}, {0, 1, 2, 3})));
  ASSERT_THAT(rig_.Run(execution, graph), IsOk());
  EXPECT_EQ(control().counts().completions_recorded - before, 1);
}

TEST_F(ExecutorTest, ASecondRunReusesTheLanesMemory) {
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  int64_t allocations = 0;
  for (int run = 0; run < 3; ++run) {
    Execution execution;
    execution.inputs.push_back(rig_.Value(Tensor({4}, {1, 1, 1, 1})));
    ASSERT_THAT(rig_.Run(execution, graph), IsOk());
    if (run == 0) allocations = control().counts().allocations;
  }
  EXPECT_EQ(control().counts().allocations, allocations);
}

TEST_F(ExecutorTest, AGiantArenaGoesBackAndASmallOneStays) {
  ASSERT_THAT(rig_.slot().Reserve(1 << 20, 0), IsOk());
  rig_.slot().Trim(1 << 20);
  EXPECT_NE(rig_.slot().arena(), nullptr);
  const uint64_t allocated = rig_.device().allocated_bytes();
  rig_.slot().Trim((1 << 20) - 1);
  EXPECT_EQ(rig_.slot().arena(), nullptr);
  EXPECT_LE(rig_.device().allocated_bytes() + (1 << 20), allocated);
  EXPECT_THAT(rig_.slot().Reserve(64, 0), IsOk());
}

TEST_F(ExecutorTest, AFailingLaunchIsItsStatusAndLeavesNoOutput) {
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  control().FailLaunch(1);
  Execution execution;
  execution.inputs.push_back(rig_.Value(Tensor({4}, {1, 1, 1, 1})));
  EXPECT_THAT(rig_.Run(execution, graph),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("")));
  EXPECT_TRUE(execution.outputs.empty());
  EXPECT_FALSE(rig_.lane_is_busy()) << "a lost device runs nothing any more";
}

TEST_F(ExecutorTest, ADeadlineEndsTheWaitAndTheLaneKeepsWhatItsWorkNeeds) {
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  control().HangLaunch(1);
  {
    Execution execution;
    execution.deadline = absl::Now() + absl::Milliseconds(30);
    execution.inputs.push_back(rig_.Value(Tensor({4}, {1, 1, 1, 1})));
    EXPECT_THAT(rig_.Run(execution, graph),
                StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("")));
    EXPECT_TRUE(rig_.lane_is_busy());
  }
  EXPECT_GT(rig_.buffers().loaned_bytes(), 0) << "the lane holds the buffers";
  control().ReleaseHang();
  ASSERT_THAT(rig_.slot().lane().Drain(absl::InfiniteFuture()), IsOk());
  EXPECT_EQ(control().counts().dropped_in_flight, 0);
  EXPECT_EQ(control().counts().retained_owners, 0);
  EXPECT_EQ(rig_.buffers().loaned_bytes(), 0);
}

TEST_F(ExecutorTest, CancellationEndsTheWait) {
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  control().HangLaunch(0);
  Execution execution;
  execution.inputs.push_back(rig_.Value(Tensor({4}, {1, 1, 1, 1})));
  std::thread canceller([&] { execution.is_cancelled = true; });
  EXPECT_THAT(rig_.Run(execution, graph),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("")));
  canceller.join();
  control().ReleaseHang();
  ASSERT_THAT(rig_.slot().lane().Drain(absl::InfiniteFuture()), IsOk());
}

TEST(RunLimitsTest, ARunThatWasStoppedSaysWhy) {
  std::atomic<bool> is_cancelled{false};
  std::atomic<bool> is_stopped{false};
  const RunLimits limits{.is_cancelled = &is_cancelled,
                         .is_stopped = &is_stopped};
  EXPECT_THAT(limits.Check(), IsOk());
  is_stopped = true;
  EXPECT_THAT(limits.Check(),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("")));
  is_cancelled = true;
  EXPECT_THAT(limits.Check(),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("")));
}

// A cancellation is told as one however its two stores fall among the looks.
TEST(RunLimitsTest, ACancellationIsNeverTakenForADeadline) {
  for (int round = 0; round < 2000; ++round) {
    std::atomic<bool> is_cancelled{false};
    std::atomic<bool> is_stopped{false};
    const RunLimits limits{.is_cancelled = &is_cancelled,
                           .is_stopped = &is_stopped};
    std::thread canceller([&] {
      is_cancelled = true;
      is_stopped = true;
    });
    absl::Status status;
    while (status.ok()) status = limits.Check();
    canceller.join();
    ASSERT_THAT(status, StatusIs(absl::StatusCode::kCancelled, HasSubstr("")));
  }
}

TEST_F(ExecutorTest, ATraceHasEveryLaunchInOrder) {
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  Execution execution;
  execution.trace = std::make_unique<op_profile::TraceBuffer>(16);
  execution.inputs.push_back(rig_.Value(Tensor({4}, {1, 1, 1, 1})));
  ASSERT_THAT(rig_.Run(execution, graph), IsOk());
  ASSERT_EQ(execution.trace->rows().size(), 3);
  EXPECT_EQ(execution.trace->rows()[2].node_index, 2);
}

// The proof that compiling and running overlap: the preparation of the second
// node waits for a latch that the execution of the first one opens. Were the
// run to start only after the whole preparation, neither could go on.
TEST_F(ExecutorTest, TheFirstRunStartsWhileLaterNodesAreBeingPrepared) {
  absl::Notification first_node_ran;
  control().SetExecuteHook([&](const FakeLaunchInfo&) {
    if (!first_node_ran.HasBeenNotified()) first_node_ran.Notify();
  });
  control().SetPrepareHook([&](const NodeSite& site) {
    if (site.op == OpKind::kAdd &&
        !first_node_ran.WaitForNotificationWithTimeout(absl::Minutes(1))) {
      return absl::DeadlineExceededError("the first node did not run");
    }
    return absl::OkStatus();
  });
  const auto graph = rig_.Plan(ScaleAndShift(), {Shape({4})});
  PreparationChannel channel(1);
  std::thread compiler([&] {
    EXPECT_THAT(PrepareNodes(*graph, rig_.device(), channel), IsOk());
  });
  Execution execution;
  execution.inputs.push_back(rig_.Value(Tensor({4}, {0, 1, 2, 3})));
  EXPECT_THAT(rig_.Run(execution, graph, &channel), IsOk());
  compiler.join();
  EXPECT_THAT(Rig::Floats(execution.outputs[0]), ElementsAre(0, 0, 1, 3));
}

// The latch would hold a preparation that runs first: the proof can fail.
TEST_F(ExecutorTest, WithoutTheOverlapTheLatchIsNeverOpened) {
  absl::Notification first_node_ran;
  control().SetExecuteHook([&](const FakeLaunchInfo&) {
    if (!first_node_ran.HasBeenNotified()) first_node_ran.Notify();
  });
  control().SetPrepareHook([&](const NodeSite&) {
    return first_node_ran.WaitForNotificationWithTimeout(absl::Milliseconds(50))
               ? absl::OkStatus()
               : absl::DeadlineExceededError("the first node did not run");
  });
  const auto graph = rig_.Plan(ScaleAndShift(), {Shape({4})});
  PreparationChannel channel(1);
  channel.Detach();
  EXPECT_THAT(
      PrepareNodes(*graph, rig_.device(), channel),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("did not")));
}

// On the CPU: host buffers are operands in place.
class CpuExecutorTest : public testing::Test {
 protected:
  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> backend_ =
      MakeCpuBackend({.workers = &workers_}, {});
  Rig rig_{*backend_, &workers_};
};

TEST_F(CpuExecutorTest, ASegmentIsSpecialisedByWhatTheDataTold) {
  const auto graph =
      rig_.Compile(TestGraph()
                       .Input("x", kF32, {2, 3})
                       .Constant("one", Tensor<int64_t>({1}, {1}))
                       .Node("NonZero", {"x"}, {"indices"})
                       .Node("Add", {"indices", "one"}, {"y"})
                       .Output("y"),
                   {Shape({2, 3})});
  EXPECT_EQ(graph->later_segments->segment_count(), 2);
  const auto run = [&](const std::vector<float>& x) {
    Execution execution;
    execution.inputs.push_back(rig_.Value(Tensor({2, 3}, x)));
    EXPECT_THAT(rig_.Run(execution, graph), IsOk());
    const HostValue& y = execution.outputs[0];
    std::vector<int64_t> values(y.bytes.size() / sizeof(int64_t));
    if (!values.empty()) {
      std::memcpy(values.data(), y.bytes.data(), y.bytes.size());
    }
    values.insert(values.begin(), y.shape[1]);
    return values;
  };
  EXPECT_THAT(run({0, 7, 0, 0, 0, 7}), ElementsAre(2, 1, 2, 2, 3));
  EXPECT_THAT(run({0, 0, 0, 0, 0, 0}), ElementsAre(0));
  EXPECT_THAT(run({0, 7, 0, 0, 0, 7}), ElementsAre(2, 1, 2, 2, 3));
}

TEST_F(CpuExecutorTest, OutputsThatShareBytesAreAllFilled) {
  const auto graph = rig_.Compile(TestGraph()
                                      .Input("x", kF32, {2})
                                      .Node("Relu", {"x"}, {"a"})
                                      .Node("Identity", {"a"}, {"b"})
                                      .Output("a")
                                      .Output("b")
                                      .Output("x"),
                                  {Shape({2})});
  Execution execution;
  execution.inputs.push_back(rig_.Value(Tensor({2}, {-1, 4})));
  ASSERT_THAT(rig_.Run(execution, graph), IsOk());
  EXPECT_THAT(Rig::Floats(execution.outputs[0]), ElementsAre(0, 4));
  EXPECT_THAT(Rig::Floats(execution.outputs[1]), ElementsAre(0, 4));
  EXPECT_THAT(Rig::Floats(execution.outputs[2]), ElementsAre(-1, 4));
}

// As a model of Dropout 7 has it: the mask is there and nobody reads it.
TEST_F(CpuExecutorTest, DropoutIsAViewUnlessItsMaskIsWanted) {
  TestGraph unread = TestGraph()
                         .Input("x", kF32, {2})
                         .Node("Relu", {"x"}, {"a"})
                         .Node("Dropout", {"a"}, {"b", "mask"})
                         .Node("Neg", {"b"}, {"y"})
                         .Output("y");
  TestGraph wanted = unread;
  wanted.Output("mask");
  EXPECT_EQ(rig_.Plan(unread, {Shape({2})})->node_count, 2);
  EXPECT_EQ(rig_.Plan(wanted, {Shape({2})})->node_count, 3);

  const auto x = Tensor({2}, {-1, 4});
  const auto one = rig_.Outputs(unread, {x});
  ASSERT_THAT(one, IsOk());
  EXPECT_THAT((*one)[0], Near({0, -4}, 0));
  const auto both = rig_.Outputs(wanted, {x});
  ASSERT_THAT(both, IsOk());
  EXPECT_THAT((*both)[0], Near({0, -4}, 0));
  EXPECT_EQ((*both)[1], Tensor<bool>({2}, {true, true}));
}

TEST_F(CpuExecutorTest, AMaskOfAConstantIsKnown) {
  const auto outputs = rig_.Outputs(TestGraph()
                                        .Input("x", kF32, {2})
                                        .Constant("c", Tensor({2}, {1, 2}))
                                        .Node("Dropout", {"c"}, {"d", "mask"})
                                        .Node("Add", {"x", "d"}, {"y"})
                                        .Output("y")
                                        .Output("mask"),
                                    {Tensor({2}, {10, 20})});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0], Near({11, 22}, 0));
  EXPECT_EQ((*outputs)[1], Tensor<bool>({2}, {true, true}));
}

TEST_F(CpuExecutorTest, EmptyTensorsAndScalarsRun) {
  const TestGraph scalar =
      TestGraph().Input("x", kF32, {}).Node("Relu", {"x"}, {"y"}).Output("y");
  Execution one;
  one.inputs.push_back(rig_.Value(Tensor(Shape(), {3})));
  ASSERT_THAT(rig_.Run(one, rig_.Compile(scalar, {Shape()})), IsOk());
  EXPECT_THAT(Rig::Floats(one.outputs[0]), ElementsAre(3));

  Execution none;
  none.inputs.push_back(rig_.Value(Tensor({0}, {})));
  ASSERT_THAT(rig_.Run(none, rig_.Compile(ScaleAndShift(), {Shape({0})})),
              IsOk());
  EXPECT_EQ(none.outputs[0].shape, Shape({0}));
}

}  // namespace
}  // namespace tensord
