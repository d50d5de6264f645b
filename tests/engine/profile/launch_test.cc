#include "engine/profile/launch.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "engine/profile/op_profile.h"
#include "gtest/gtest.h"

namespace tensord::op_profile {
namespace {

constexpr DeviceId kCpu0{BackendId::kCpu, 0};

// Keeps the thread busy until the clock that launches are timed by has moved.
void SpinNs(uint64_t ns) {
  const TickClock clock = TickClock::Get();
  const uint64_t start = clock.Now();
  while (clock.ToNs(clock.Now() - start) < ns) {
  }
}

auto Spin(uint64_t ns) {
  return [ns] {
    SpinNs(ns);
    return absl::OkStatus();
  };
}

uint64_t HostNs(const ProfileSnapshot& snapshot, OpLabel op) {
  for (const DurationRow& row : snapshot.durations) {
    if (row.op == op) return row.host.sum_ns;
  }
  return 0;
}

class LaunchTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(profile_.Configure({Mode::kFull}).ok());
    shard_ = profile_.CreateShard(kCpu0);
  }

  LaunchSite Site(OpKind op, uint32_t node_index = 0) {
    LaunchSite site;
    site.slot =
        profile_.SlotFor(op, BackendId::kCpu, "kernel", DType::kFloat32);
    site.node_index = node_index;
    return site;
  }

  OpProfile profile_;
  std::unique_ptr<Shard> shard_;
};

TEST_F(LaunchTest, TimesOfAllOpsReconcileWithTheCallersWallClock) {
  constexpr int kLaunches = 100;
  constexpr uint64_t kSpinNs = 50'000;
  const LaunchSite conv = Site(OpKind::kConv);
  const LaunchSite relu = Site(OpKind::kRelu);
  const TickClock clock = TickClock::Get();
  // The bounds from above and below hold in every run. That nine tenths of the
  // wall clock is in the ops holds in a run that was not interrupted between
  // two launches; one of ten is such a run on any machine.
  double best_share = 0;
  for (int run = 0; run < 10 && best_share < 0.9; ++run) {
    const ProfileSnapshot before = profile_.Snapshot();
    ExecutionScope scope(shard_.get());
    const uint64_t start = clock.Now();
    for (int i = 0; i < kLaunches; ++i) {
      const LaunchSite& site = i % 2 == 0 ? conv : relu;
      ASSERT_TRUE(CountLaunch(scope.shard(), site, Spin(kSpinNs)).ok());
    }
    const uint64_t wall_ns = clock.ToNs(clock.Now() - start);
    const ProfileSnapshot added = Difference(profile_.Snapshot(), before).added;
    const uint64_t ops_ns =
        HostNs(added, OpKind::kConv) + HostNs(added, OpKind::kRelu);
    // Four roundings down to a nanosecond are in the two sums.
    EXPECT_LE(ops_ns, wall_ns + 4);
    EXPECT_GE(ops_ns + 4, kLaunches * kSpinNs);
    best_share = std::max(best_share, double(ops_ns) / wall_ns);
  }
  EXPECT_GE(best_share, 0.9);
}

TEST_F(LaunchTest, ANestedLaunchIsNotChargedToTheOneAroundIt) {
  const LaunchSite loop = Site(OpKind::kLoop);
  const LaunchSite body = Site(OpKind::kGemm);
  ExecutionScope scope(shard_.get());
  const TickClock clock = TickClock::Get();
  const uint64_t start = clock.Now();
  ASSERT_TRUE(CountLaunch(scope.shard(), loop, [&] {
                SpinNs(10'000);
                absl::Status status;
                for (int i = 0; i < 3; ++i) {
                  status.Update(
                      CountLaunch(scope.shard(), body, Spin(1'000'000)));
                }
                return status;
              }).ok());
  const uint64_t wall_ns = clock.ToNs(clock.Now() - start);
  const ProfileSnapshot snapshot = profile_.Snapshot();
  const uint64_t loop_ns = HostNs(snapshot, OpKind::kLoop);
  const uint64_t body_ns = HostNs(snapshot, OpKind::kGemm);
  EXPECT_GE(loop_ns, 10'000);
  EXPECT_GE(body_ns, 3'000'000);
  EXPECT_LE(loop_ns + body_ns, wall_ns);
}

TEST_F(LaunchTest, ATraceHasTheLaunchesInTheOrderInWhichTheyBegan) {
  const LaunchSite loop = Site(OpKind::kLoop, 4);
  const LaunchSite body = Site(OpKind::kGemm, 7);
  const LaunchSite last = Site(OpKind::kRelu, 5);
  TraceBuffer trace(16);
  {
    ExecutionScope scope(shard_.get(), &trace);
    ASSERT_TRUE(CountLaunch(scope.shard(), loop, [&] {
                  return CountLaunch(scope.shard(), body, Spin(20'000));
                }).ok());
    ASSERT_TRUE(CountLaunch(scope.shard(), last, Spin(10'000)).ok());
  }
  ASSERT_EQ(trace.rows().size(), 3);
  EXPECT_EQ(trace.rows()[0].node_index, 4);
  EXPECT_EQ(trace.rows()[0].slot, loop.slot);
  EXPECT_EQ(trace.rows()[1].node_index, 7);
  EXPECT_EQ(trace.rows()[2].node_index, 5);
  EXPECT_GE(trace.rows()[1].host_ns, 20'000);
  EXPECT_GE(trace.rows()[2].host_ns, 10'000);
  EXPECT_LE(trace.rows()[0].start_ns, trace.rows()[1].start_ns);
  EXPECT_GE(trace.rows()[2].start_ns,
            trace.rows()[1].start_ns + trace.rows()[1].host_ns);
  EXPECT_EQ(trace.dropped_count(), 0);
}

TEST_F(LaunchTest, ATraceIsBoundedAndCountsWhatItDrops) {
  const LaunchSite site = Site(OpKind::kRelu);
  TraceBuffer trace(3);
  {
    ExecutionScope scope(shard_.get(), &trace);
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(CountLaunch(scope.shard(), site, Spin(0)).ok());
    }
  }
  EXPECT_EQ(trace.rows().size(), 3);
  EXPECT_EQ(trace.dropped_count(), 7);
  EXPECT_EQ(profile_.Snapshot().launches(), 10) << "counts do not depend on it";
}

TEST_F(LaunchTest, ATraceEndsWithItsExecution) {
  const LaunchSite site = Site(OpKind::kRelu);
  TraceBuffer trace(8);
  { ExecutionScope traced(shard_.get(), &trace); }
  ExecutionScope next(shard_.get());
  ASSERT_TRUE(CountLaunch(next.shard(), site, Spin(0)).ok());
  EXPECT_TRUE(trace.rows().empty());
}

TEST_F(LaunchTest, ATraceInModeOffLeavesTheCountersAlone) {
  ASSERT_TRUE(profile_.Configure({Mode::kOff}).ok());
  const LaunchSite site = Site(OpKind::kRelu);
  TraceBuffer trace(8);
  ExecutionScope scope(shard_.get(), &trace);
  ASSERT_TRUE(CountLaunch(scope.shard(), site, Spin(0)).ok());
  EXPECT_EQ(trace.rows().size(), 1);
  EXPECT_EQ(profile_.Snapshot().launches(), 0);
}

TEST_F(LaunchTest, ATraceIsNotASample) {
  ASSERT_TRUE(profile_.Configure({Mode::kSampled, 1000}).ok());
  const LaunchSite site = Site(OpKind::kRelu);
  {
    ExecutionScope sampled(shard_.get());
    ASSERT_TRUE(CountLaunch(sampled.shard(), site, Spin(0)).ok());
  }
  TraceBuffer trace(8);
  ExecutionScope scope(shard_.get(), &trace);
  ASSERT_TRUE(CountLaunch(scope.shard(), site, Spin(0)).ok());
  const ProfileSnapshot snapshot = profile_.Snapshot();
  EXPECT_EQ(snapshot.launches(), 2);
  EXPECT_EQ(snapshot.durations[0].host.count(), 1);
  EXPECT_EQ(trace.rows().size(), 1);
}

TEST_F(LaunchTest, AReplayCountsItsProgramsLaunchesAndEvictionKeepsThem) {
  const LaunchSite conv = Site(OpKind::kConv);
  const LaunchSite relu = Site(OpKind::kRelu);
  auto program =
      profile_.CreateProgram(kCpu0, {{conv.slot, 2, 100}, {relu.slot, 3, 12}});
  for (int i = 0; i < 5; ++i) {
    ExecutionScope scope(shard_.get());
    ASSERT_TRUE(CountReplay(scope.shard(), *program, Spin(1'000)).ok());
  }
  const ProfileSnapshot before = profile_.Snapshot();
  program.reset();
  const ProfileSnapshot after = profile_.Snapshot();

  EXPECT_EQ(after.launches(), 25);
  ASSERT_EQ(after.ops.size(), 3);
  for (const OpRow& row : after.ops) {
    if (row.op == OpLabel(OpKind::kConv)) {
      EXPECT_EQ(row.launches, 10);
      EXPECT_EQ(row.bytes, 500);
    } else if (row.op == OpLabel(OpKind::kRelu)) {
      EXPECT_EQ(row.launches, 15);
      EXPECT_EQ(row.bytes, 60);
    } else {
      EXPECT_EQ(row.op, OpLabel::ProgramReplay());
      EXPECT_EQ(row.launches, 5);
    }
  }
  EXPECT_EQ(after.kernels.size(), 2) << "a program is no kernel";
  ASSERT_EQ(after.durations.size(), 1) << "its nodes have no time of their own";
  EXPECT_EQ(after.durations[0].op, OpLabel::ProgramReplay());
  EXPECT_EQ(after.durations[0].host.count(), 5);
  EXPECT_TRUE(Difference(after, before).added.ops.empty());
}

TEST_F(LaunchTest, AReplayThatFailedLaunchedNothing) {
  const LaunchSite conv = Site(OpKind::kConv);
  auto program = profile_.CreateProgram(kCpu0, {{conv.slot, 2, 100}});
  ExecutionScope scope(shard_.get());
  EXPECT_FALSE(CountReplay(scope.shard(), *program, [] {
                 return absl::UnavailableError("device lost");
               }).ok());
  const ProfileSnapshot snapshot = profile_.Snapshot();
  EXPECT_EQ(snapshot.launches(), 0);
  ASSERT_EQ(snapshot.ops.size(), 1);
  EXPECT_EQ(snapshot.ops[0].op, OpLabel::ProgramReplay());
  EXPECT_EQ(snapshot.ops[0].errors, 1);
}

TEST_F(LaunchTest, AReplayInModeOffCountsNothing) {
  ASSERT_TRUE(profile_.Configure({Mode::kOff}).ok());
  const LaunchSite conv = Site(OpKind::kConv);
  auto program = profile_.CreateProgram(kCpu0, {{conv.slot, 2, 100}});
  ExecutionScope scope(shard_.get());
  ASSERT_TRUE(CountReplay(scope.shard(), *program, Spin(0)).ok());
  EXPECT_TRUE(profile_.Snapshot().ops.empty());
}

}  // namespace
}  // namespace tensord::op_profile
