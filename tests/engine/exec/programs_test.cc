// Stretches of launches that are recorded and submitted as a whole.

#include <cstdint>
#include <memory>
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

using op_profile::Mode;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr DType kF32 = DType::kFloat32;

TestGraph ScaleAndShift(const char* extent = "N") {
  return TestGraph()
      .Input("x", kF32, {extent})
      .Constant("scale", Tensor({1}, {2}))
      .Constant("shift", Tensor({1}, {-3}))
      .Node("Mul", {"x", "scale"}, {"a"})
      .Node("Add", {"a", "shift"}, {"b"})
      .Node("Relu", {"b"}, {"y"})
      .Output("y");
}

class ProgramsTest : public testing::Test {
 protected:
  explicit ProgramsTest(bool records_programs = true)
      : backend_(BackendId::kVulkan, {.records_programs = records_programs}) {}

  FakeControl& control() { return backend_.control(0); }
  FakeCounts counts() { return control().counts(); }

  // One run on `x`, whose answer is checked.
  void RunOnce(const std::shared_ptr<const CompiledGraph>& graph,
               const std::vector<float>& x = {0, 1, 2, 3}) {
    Execution execution;
    execution.inputs.push_back(
        rig_.Value(Tensor({static_cast<int64_t>(x.size())}, x)));
    ASSERT_THAT(rig_.Run(execution, graph), IsOk());
    std::vector<float> expected;
    for (float value : x) expected.push_back(std::max(0.0f, 2 * value - 3));
    EXPECT_EQ(ExecutionRig::Floats(execution.outputs[0]), expected);
  }

  uint64_t Launches(op_profile::OpLabel op) {
    uint64_t launches = 0;
    for (const op_profile::OpRow& row : rig_.profile().Snapshot().ops) {
      if (row.op == op) launches += row.launches;
    }
    return launches;
  }

  op_profile::DurationRow Durations(op_profile::OpLabel op) {
    for (const auto& row : rig_.profile().Snapshot().durations) {
      if (row.op == op) return row;
    }
    return {op, BackendId::kVulkan, {}, {}};
  }

  FakeBackend backend_;
  ExecutionRig rig_{backend_};
};

TEST_F(ProgramsTest, ASecondRunRecordsAndEveryLaterOneSubmitsOnce) {
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  RunOnce(graph);
  EXPECT_EQ(counts().programs_recorded, 0);
  EXPECT_EQ(counts().launches_enqueued, 3);
  for (int run = 1; run <= 5; ++run) {
    RunOnce(graph, {1.0f * run, 2, 3, 4});
    EXPECT_EQ(counts().programs_recorded, 1);
    EXPECT_EQ(counts().programs_submitted, run);
    EXPECT_EQ(counts().launches_replayed, 3 * run);
    EXPECT_EQ(counts().launches_enqueued, 3 + 3 * run)
        << "nothing is launched one by one any more";
  }
  EXPECT_EQ(graph->program_bytes.load(), 3 * LanePrograms::kLaunchBytes);
  EXPECT_GT(graph->held_bytes(), graph->footprint_bytes);
}

TEST_F(ProgramsTest, ASingleLaunchIsNotRecorded) {
  const auto graph = rig_.Compile(
      TestGraph().Input("x", kF32, {4}).Node("Relu", {"x"}, {"y"}).Output("y"),
      {Shape({4})});
  for (int run = 0; run < 4; ++run) {
    ASSERT_THAT(rig_.PreparedOutputs(graph, {Tensor({4}, {1, 2, 3, 4})}),
                IsOk());
  }
  EXPECT_EQ(counts().programs_recorded, 0);
}

class NoProgramsTest : public ProgramsTest {
 protected:
  NoProgramsTest() : ProgramsTest(false) {}
};

TEST_F(NoProgramsTest, ADeviceThatRecordsNoneLaunchesEveryStep) {
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  for (int run = 1; run <= 4; ++run) {
    RunOnce(graph);
    EXPECT_EQ(counts().launches_enqueued, 3 * run);
  }
}

TEST_F(ProgramsTest, ALaneMayBeToldToRecordNone) {
  const auto slot =
      *LaneSlot::Create(rig_.device(), nullptr, nullptr, /*records=*/false);
  EXPECT_EQ(slot->programs(), nullptr);
  EXPECT_NE(rig_.slot().programs(), nullptr);
}

TEST_F(ProgramsTest, ARecordingThatFailsIsNotTriedAgain) {
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  control().RefuseRecordings();
  for (int run = 1; run <= 4; ++run) {
    RunOnce(graph);
    EXPECT_EQ(counts().launches_enqueued, 3 * run);
  }
  EXPECT_EQ(counts().programs_submitted, 0);
}

TEST_F(ProgramsTest, WhatIsRecordedGoesBeforeTheArenaMovesAndComesBack) {
  const auto small = rig_.Compile(ScaleAndShift(), {Shape({4})});
  const auto large = rig_.Compile(ScaleAndShift(), {Shape({4096})});
  RunOnce(small);
  RunOnce(small);
  EXPECT_EQ(counts().programs_alive, 1);
  RunOnce(large, std::vector<float>(4096, 2));
  EXPECT_EQ(counts().programs_alive, 0);
  EXPECT_EQ(small->program_bytes.load(), 0);
  RunOnce(small);
  EXPECT_EQ(counts().programs_alive, 1);
  EXPECT_EQ(counts().programs_recorded, 2);
  EXPECT_EQ(counts().dropped_in_flight, 0);
}

TEST_F(ProgramsTest, AGraphThatIsGoneIsSweptAndNotBefore) {
  auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  RunOnce(graph);
  RunOnce(graph);
  const std::weak_ptr<const CompiledGraph> watched = graph;
  EXPECT_FALSE(rig_.slot().programs()->Sweep());
  EXPECT_EQ(counts().programs_alive, 1);
  graph.reset();
  EXPECT_FALSE(watched.expired()) << "the program points to what it has";
  EXPECT_FALSE(rig_.slot().programs()->Sweep());
  EXPECT_EQ(counts().programs_alive, 0);
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(counts().dropped_in_flight, 0);
}

TEST_F(ProgramsTest, AGraphOfTwoLanesIsLeftToTheOtherOne) {
  auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  const auto other = *LaneSlot::Create(rig_.device(), nullptr, nullptr);
  RunOnce(graph);
  RunOnce(graph);
  for (int run = 0; run < 2; ++run) {
    Execution execution;
    execution.inputs.push_back(rig_.Value(Tensor({4}, {1, 2, 3, 4})));
    bool is_busy = false;
    ASSERT_THAT(RunExecution(*other, *graph, execution, rig_.buffers(), nullptr,
                             &is_busy),
                IsOk());
  }
  EXPECT_EQ(counts().programs_alive, 2);
  graph.reset();
  EXPECT_TRUE(other->programs()->Sweep());
  EXPECT_EQ(counts().programs_alive, 1);
  EXPECT_FALSE(rig_.slot().programs()->Sweep());
  EXPECT_EQ(counts().programs_alive, 0);
}

TEST_F(ProgramsTest, AProgramThatHangsKeepsWhatItNeedsUntilItIsDone) {
  auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  RunOnce(graph);
  RunOnce(graph);
  control().HangLaunch(1);
  {
    Execution execution;
    execution.deadline = absl::Now() + absl::Milliseconds(30);
    execution.inputs.push_back(rig_.Value(Tensor({4}, {1, 1, 1, 1})));
    EXPECT_THAT(rig_.Run(execution, graph),
                StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("")));
  }
  graph.reset();
  EXPECT_EQ(counts().programs_alive, 1);
  control().ReleaseHang();
  ASSERT_THAT(rig_.slot().lane().Drain(absl::InfiniteFuture()), IsOk());
  rig_.slot().programs()->Sweep();
  EXPECT_EQ(counts().programs_alive, 0);
  EXPECT_EQ(counts().dropped_in_flight, 0);
}

TEST_F(ProgramsTest, ALaunchThatFailsInAProgramIsTheRunsStatus) {
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  RunOnce(graph);
  RunOnce(graph);
  control().FailLaunch(1);
  Execution execution;
  execution.inputs.push_back(rig_.Value(Tensor({4}, {1, 1, 1, 1})));
  EXPECT_THAT(rig_.Run(execution, graph),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("")));
}

TEST_F(ProgramsTest, ATracedRunShowsEveryLaunch) {
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  for (int run = 0; run < 3; ++run) RunOnce(graph);
  Execution execution;
  execution.trace = std::make_unique<op_profile::TraceBuffer>(16);
  execution.inputs.push_back(rig_.Value(Tensor({4}, {1, 1, 1, 1})));
  ASSERT_THAT(rig_.Run(execution, graph), IsOk());
  EXPECT_EQ(execution.trace->rows().size(), 3);
}

// Every launch and copy takes a microsecond of the fake device's clock.
TEST_F(ProgramsTest, ATraceHasTheDevicesTimesWhereTheyAreAskedFor) {
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  RunOnce(graph);
  for (const bool is_asked_for : {false, true}) {
    Execution execution;
    execution.trace =
        std::make_unique<op_profile::TraceBuffer>(16, is_asked_for);
    execution.inputs.push_back(rig_.Value(Tensor({4}, {1, 1, 1, 1})));
    ASSERT_THAT(rig_.Run(execution, graph), IsOk());
    const auto& rows = execution.trace->rows();
    ASSERT_EQ(rows.size(), 3);
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].device_ns, is_asked_for ? 1000 : -1);
      EXPECT_EQ(rows[i].device_start_ns,
                is_asked_for ? static_cast<int64_t>(rows[0].start_ns + 1000 * i)
                             : -1);
      EXPECT_EQ(rows[i].bytes, graph->first.steps[i].node.site.bytes);
      EXPECT_EQ(rows[i].node,
                graph->graph->nodes[graph->first.steps[i].node_id].name);
    }
  }
}

// A trace alone puts nothing into the histograms.
TEST_F(ProgramsTest, TheDeviceTimesOfATraceAreNoSamples) {
  ASSERT_THAT(rig_.profile().Configure({.mode = Mode::kOff}), IsOk());
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  Execution execution;
  execution.trace = std::make_unique<op_profile::TraceBuffer>(16, true);
  execution.inputs.push_back(rig_.Value(Tensor({4}, {1, 1, 1, 1})));
  ASSERT_THAT(rig_.Run(execution, graph), IsOk());
  EXPECT_EQ(execution.trace->rows()[0].device_ns, 1000);
  EXPECT_TRUE(rig_.profile().Snapshot().durations.empty());
}

TEST_F(ProgramsTest, CountsAreExactUnderReplayAndDoNotFall) {
  ASSERT_THAT(rig_.profile().Configure({Mode::kSampled, 4}), IsOk());
  auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  for (int run = 1; run <= 40; ++run) {
    RunOnce(graph);
    ASSERT_EQ(Launches(OpKind::kMul), run);
    ASSERT_EQ(Launches(OpKind::kRelu), run);
  }
  EXPECT_EQ(Launches(op_profile::OpLabel::ProgramReplay()), 39);
  graph.reset();
  rig_.slot().programs()->Sweep();
  EXPECT_EQ(counts().programs_alive, 0);
  EXPECT_EQ(Launches(OpKind::kMul), 40);
  EXPECT_GT(Durations(op_profile::OpLabel::ProgramReplay()).host.count(), 0);
}

// Every launch and copy takes a microsecond of the fake device's clock.
TEST_F(ProgramsTest, DeviceTimesOfEveryLaunchOfSampledRunsComeFromMarks) {
  ASSERT_THAT(rig_.profile().Configure({.mode = Mode::kFull}), IsOk());
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  for (int run = 1; run <= 5; ++run) {
    RunOnce(graph);
    for (OpKind op : {OpKind::kMul, OpKind::kAdd, OpKind::kRelu}) {
      EXPECT_EQ(Durations(op).device.count(), run);
      EXPECT_EQ(Durations(op).device.sum_ns, 1000 * run);
    }
  }
  EXPECT_EQ(counts().programs_recorded, 1) << "the one with marks, alone";
  EXPECT_EQ(counts().programs_submitted, 4);
}

TEST_F(ProgramsTest, ARunThatIsNotSampledSubmitsTheProgramWithoutMarks) {
  ASSERT_THAT(rig_.profile().Configure({Mode::kSampled, 4}), IsOk());
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  for (int run = 0; run < 40; ++run) RunOnce(graph);
  EXPECT_EQ(counts().programs_recorded, 2);
  EXPECT_EQ(counts().programs_submitted, 39);
  EXPECT_EQ(Durations(OpKind::kMul).device.count(), 10);
  EXPECT_EQ(Durations(OpKind::kMul).device.sum_ns, 10 * 1000);
}

TEST_F(NoProgramsTest, LaunchesOutsideOfProgramsHaveDeviceTimesToo) {
  ASSERT_THAT(rig_.profile().Configure({.mode = Mode::kFull}), IsOk());
  const auto graph = rig_.Compile(ScaleAndShift(), {Shape({4})});
  for (int run = 0; run < 3; ++run) RunOnce(graph);
  EXPECT_EQ(Durations(OpKind::kAdd).device.count(), 3);
  EXPECT_EQ(Durations(OpKind::kAdd).device.sum_ns, 3000);
}

// Both sides, several stretches, and extents that the data tells: each stretch
// is a program of its own, and marks are numbered through.
class MixedProgramsTest : public testing::Test {
 protected:
  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> cpu_ = MakeCpuBackend({.workers = &workers_}, {});
  FakeBackend backend_{BackendId::kVulkan, {.records_programs = true}};
  ExecutionRig rig_{backend_, &workers_, cpu_.get()};
};

TEST_F(MixedProgramsTest, EachStretchOfEachSegmentIsAProgram) {
  rig_.options().disabled_passes = {"fuse_elementwise"};
  ASSERT_THAT(rig_.profile().Configure({.mode = Mode::kFull}), IsOk());
  const auto graph =
      rig_.Compile(TestGraph()
                       .Input("x", kF32, {6})
                       .Constant("two", Tensor({1}, {2}))
                       .Node("Relu", {"x"}, {"a"})
                       .Node("Mul", {"a", "two"}, {"a2"})
                       .Node("Abs", {"a2"}, {"b"})
                       .Node("Add", {"b", "b"}, {"c"})
                       .Node("Mul", {"c", "two"}, {"d"})
                       .Node("NonZero", {"d"}, {"indices"})
                       .Node("Cast", {"indices"}, {"f"}, {{"to", int64_t{1}}})
                       .Node("Mul", {"f", "two"}, {"g"})
                       .Node("Add", {"g", "two"}, {"y"})
                       .Output("y"),
                   {Shape({6})});
  for (int run = 1; run <= 6; ++run) {
    const auto outputs =
        rig_.PreparedOutputs(graph, {Tensor({6}, {0, 5, 0, -1, 2, 0})});
    ASSERT_THAT(outputs, IsOk());
    EXPECT_EQ((*outputs)[0].shape, Shape({1, 2}));
    EXPECT_THAT((*outputs)[0], Near({4, 10}, 0));
  }
  const FakeCounts counts = backend_.control(0).counts();
  EXPECT_EQ(counts.programs_recorded, 3);
  EXPECT_EQ(counts.programs_submitted, 5 * 3);
  EXPECT_EQ(counts.launches_enqueued, 6 * 7);
  EXPECT_EQ(counts.dropped_in_flight, 0);
  for (const auto& row : rig_.profile().Snapshot().durations) {
    if (row.op == op_profile::OpLabel(OpKind::kMul)) {
      EXPECT_EQ(row.device.count(), 6 * 3);
      EXPECT_EQ(row.device.sum_ns, 6 * 3 * 1000);
    }
    if (row.backend == BackendId::kCpu) {
      EXPECT_EQ(row.device.count(), 0);
    }
  }
}

}  // namespace
}  // namespace tensord
