#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "engine/profile/launch.h"
#include "engine/profile/op_profile.h"
#include "gtest/gtest.h"

// Lanes launch, retire, and meet new kernels and modes, while scrapes go on.
// Under the thread sanitizer these tests are the proof that nothing here needs
// a lock on the launch path.
namespace tensord::op_profile {
namespace {

constexpr int kLanes = 32;
constexpr int kExecutions = 200;
constexpr int kShardsPerLane = 4;

absl::Status Succeed() { return absl::OkStatus(); }

// Fails the test if any row of `newer` shows less than in `older`, or has gone.
void ExpectNothingFell(const ProfileSnapshot& older,
                       const ProfileSnapshot& newer) {
  for (const OpRow& old_row : older.ops) {
    bool is_found = false;
    for (const OpRow& row : newer.ops) {
      if (row.op != old_row.op || row.device != old_row.device) continue;
      is_found = true;
      ASSERT_GE(row.launches, old_row.launches);
      ASSERT_GE(row.bytes, old_row.bytes);
      ASSERT_GE(row.errors, old_row.errors);
    }
    ASSERT_TRUE(is_found);
  }
  for (const DurationRow& old_row : older.durations) {
    bool is_found = false;
    for (const DurationRow& row : newer.durations) {
      if (row.op != old_row.op || row.backend != old_row.backend) continue;
      is_found = true;
      ASSERT_GE(row.host.sum_ns, old_row.host.sum_ns);
      for (size_t i = 0; i < row.host.counts.size(); ++i) {
        ASSERT_GE(row.host.counts[i], old_row.host.counts[i]);
      }
      ASSERT_GE(row.device.sum_ns, old_row.device.sum_ns);
    }
    ASSERT_TRUE(is_found);
  }
}

class ProfileConcurrencyTest : public testing::Test {
 protected:
  LaunchSite Site(OpKind op, const std::string& kernel, uint64_t bytes) {
    LaunchSite site;
    site.slot = profile_.SlotFor(op, BackendId::kCpu, kernel, DType::kFloat32);
    site.bytes = bytes;
    return site;
  }

  // A lane's life: several shards one after another, each with executions of
  // three launches (one of a kernel of the lane's own) and one replay.
  void RunLane(int lane) {
    const DeviceId device{BackendId::kCpu, static_cast<uint16_t>(lane % 2)};
    const LaunchSite conv = Site(OpKind::kConv, "conv", 10);
    for (int generation = 0; generation < kShardsPerLane; ++generation) {
      auto shard = profile_.CreateShard(device);
      const LaunchSite own = Site(
          OpKind::kGemm, "gemm_" + std::to_string(lane * 10 + generation), 1);
      auto program = profile_.CreateProgram(device, {{conv.slot, 2, 20}});
      for (int i = 0; i < kExecutions; ++i) {
        ExecutionScope scope(shard.get());
        CountLaunch(scope.shard(), conv, Succeed).IgnoreError();
        CountLaunch(scope.shard(), own, Succeed).IgnoreError();
        CountLaunch(scope.shard(), conv, Succeed).IgnoreError();
        CountReplay(scope.shard(), *program, Succeed).IgnoreError();
        if (i % 50 == 0) {
          profile_.AddDeviceDuration(OpKind::kConv, BackendId::kCpu, 1000);
        }
      }
    }
  }

  OpProfile profile_;
};

TEST_F(ProfileConcurrencyTest, NoScrapeSeesAFallAndNoLaunchIsLost) {
  ASSERT_TRUE(profile_.Configure({Mode::kFull}).ok());
  std::atomic<bool> lanes_are_done{false};
  std::vector<std::thread> scrapers;
  for (int i = 0; i < 2; ++i) {
    scrapers.emplace_back([&] {
      ProfileSnapshot older;
      do {
        ProfileSnapshot newer = profile_.Snapshot();
        ExpectNothingFell(older, newer);
        older = std::move(newer);
      } while (!lanes_are_done.load() && !HasFatalFailure());
    });
  }
  std::vector<std::thread> lanes;
  for (int lane = 0; lane < kLanes; ++lane) {
    lanes.emplace_back([this, lane] { RunLane(lane); });
  }
  for (std::thread& lane : lanes) lane.join();
  lanes_are_done = true;
  for (std::thread& scraper : scrapers) scraper.join();

  constexpr uint64_t kAll = kLanes * kShardsPerLane * kExecutions;
  const ProfileSnapshot snapshot = profile_.Snapshot();
  uint64_t conv_launches = 0, conv_bytes = 0, gemm_launches = 0, replays = 0;
  for (const OpRow& row : snapshot.ops) {
    if (row.op == OpLabel(OpKind::kConv)) {
      conv_launches += row.launches;
      conv_bytes += row.bytes;
    } else if (row.op == OpLabel(OpKind::kGemm)) {
      gemm_launches += row.launches;
    } else {
      replays += row.launches;
    }
  }
  EXPECT_EQ(conv_launches, 4 * kAll);  // two one by one, two in a replay
  EXPECT_EQ(conv_bytes, 40 * kAll);
  EXPECT_EQ(gemm_launches, kAll);
  EXPECT_EQ(replays, kAll);
  for (const DurationRow& row : snapshot.durations) {
    if (row.op != OpLabel(OpKind::kConv)) continue;
    EXPECT_EQ(row.host.count(), 2 * kAll);
    EXPECT_EQ(row.device.count(), kLanes * kShardsPerLane * kExecutions / 50);
  }
}

TEST_F(ProfileConcurrencyTest, ModesMayChangeWhileLanesRun) {
  std::atomic<bool> lanes_are_done{false};
  std::thread switcher([&] {
    for (uint32_t i = 0; !lanes_are_done.load(); ++i) {
      const Mode mode = static_cast<Mode>(i % 3);
      EXPECT_TRUE(profile_.Configure({mode, 2 + i % 5}).ok());
      profile_.Snapshot();
    }
  });
  std::vector<std::thread> lanes;
  for (int lane = 0; lane < 4; ++lane) {
    lanes.emplace_back([this, lane] { RunLane(lane); });
  }
  for (std::thread& lane : lanes) lane.join();
  lanes_are_done = true;
  switcher.join();
  EXPECT_LE(profile_.Snapshot().launches(),
            uint64_t{5} * 4 * kShardsPerLane * kExecutions);
}

TEST_F(ProfileConcurrencyTest, AShardMayPassFromThreadToThread) {
  ASSERT_TRUE(profile_.Configure({Mode::kSampled, 3}).ok());
  const LaunchSite site = Site(OpKind::kRelu, "relu", 4);
  auto shard = profile_.CreateShard({BackendId::kCpu, 0});
  for (int i = 0; i < 30; ++i) {
    std::thread([&] {
      ExecutionScope scope(shard.get());
      CountLaunch(scope.shard(), site, Succeed).IgnoreError();
    }).join();
  }
  const ProfileSnapshot snapshot = profile_.Snapshot();
  EXPECT_EQ(snapshot.launches(), 30);
  EXPECT_EQ(snapshot.durations[0].host.count(), 10);
}

}  // namespace
}  // namespace tensord::op_profile
