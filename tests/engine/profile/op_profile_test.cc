#include "engine/profile/op_profile.h"

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "engine/profile/launch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tensord::op_profile {
namespace {

constexpr DeviceId kCpu0{BackendId::kCpu, 0};
constexpr DeviceId kCpu1{BackendId::kCpu, 1};

absl::Status Succeed() { return absl::OkStatus(); }
absl::Status Fail() { return absl::InternalError("device fault"); }

const OpRow* FindOp(const ProfileSnapshot& snapshot, OpLabel op,
                    DeviceId device) {
  for (const OpRow& row : snapshot.ops) {
    if (row.op == op && row.device == device) return &row;
  }
  return nullptr;
}

const KernelRow* FindKernel(const ProfileSnapshot& snapshot,
                            absl::string_view kernel) {
  for (const KernelRow& row : snapshot.kernels) {
    if (row.kernel == kernel) return &row;
  }
  return nullptr;
}

DurationRow FindDuration(const ProfileSnapshot& snapshot, OpLabel op) {
  for (const DurationRow& row : snapshot.durations) {
    if (row.op == op) return row;
  }
  return DurationRow{op, BackendId::kCpu, {}, {}};
}

class OpProfileTest : public testing::Test {
 protected:
  LaunchSite Site(OpKind op, absl::string_view kernel, uint64_t bytes = 0) {
    LaunchSite site;
    site.slot = profile_.SlotFor(op, BackendId::kCpu, kernel, DType::kFloat32);
    site.bytes = bytes;
    return site;
  }

  void Configure(Mode mode, uint32_t sample_every = 16) {
    ASSERT_TRUE(profile_.Configure({mode, sample_every}).ok());
  }

  // One execution of one successful launch.
  void Execute(Shard* shard, const LaunchSite& site) {
    ExecutionScope scope(shard);
    ASSERT_TRUE(CountLaunch(scope.shard(), site, Succeed).ok());
  }

  OpProfile profile_;
};

TEST_F(OpProfileTest, IsOffByDefaultAndThenCountsNothing) {
  const LaunchSite site = Site(OpKind::kRelu, "relu_f32", 8);
  auto shard = profile_.CreateShard(kCpu0);
  Execute(shard.get(), site);
  {
    ExecutionScope scope(shard.get());
    EXPECT_EQ(scope.shard(), nullptr);
    // Even for a caller that hands over the lane's shard itself.
    ASSERT_TRUE(CountLaunch(shard.get(), site, Succeed).ok());
  }
  const ProfileSnapshot snapshot = profile_.Snapshot();
  EXPECT_EQ(snapshot.config.mode, Mode::kOff);
  EXPECT_THAT(snapshot.ops, testing::IsEmpty());
  EXPECT_THAT(snapshot.kernels, testing::IsEmpty());
  EXPECT_THAT(snapshot.durations, testing::IsEmpty());
}

TEST_F(OpProfileTest, ALaunchWithoutAShardOrOutsideAnExecutionCountsNothing) {
  const LaunchSite site = Site(OpKind::kRelu, "relu_f32");
  auto shard = profile_.CreateShard(kCpu0);
  Configure(Mode::kFull);
  EXPECT_TRUE(CountLaunch(nullptr, site, Succeed).ok());
  EXPECT_TRUE(CountLaunch(shard.get(), site, Succeed).ok());
  ExecutionScope scope(nullptr);
  EXPECT_EQ(scope.shard(), nullptr);
  EXPECT_EQ(profile_.Snapshot().launches(), 0);
}

TEST_F(OpProfileTest, NotCompiledInRunsTheLaunchAndCountsNothing) {
  const LaunchSite site = Site(OpKind::kRelu, "relu_f32");
  auto shard = profile_.CreateShard(kCpu0);
  Configure(Mode::kFull);
  ExecutionScope scope(shard.get());
  EXPECT_FALSE(CountLaunch<NotCompiledIn>(scope.shard(), site, Fail).ok());
  EXPECT_EQ(profile_.Snapshot().launches(), 0);
}

TEST_F(OpProfileTest, LaunchesErrorsAndBytesAreKeptPerOpAndDevice) {
  const LaunchSite relu = Site(OpKind::kRelu, "relu_f32", 8);
  const LaunchSite wide_relu = Site(OpKind::kRelu, "relu_f32_avx2", 64);
  const LaunchSite conv = Site(OpKind::kConv, "conv_f32", 1000);
  auto shard0 = profile_.CreateShard(kCpu0);
  auto shard1 = profile_.CreateShard(kCpu1);
  Configure(Mode::kFull);
  {
    ExecutionScope scope(shard0.get());
    EXPECT_TRUE(CountLaunch(scope.shard(), relu, Succeed).ok());
    EXPECT_TRUE(CountLaunch(scope.shard(), wide_relu, Succeed).ok());
    EXPECT_EQ(CountLaunch(scope.shard(), conv, Fail), Fail());
  }
  Execute(shard1.get(), relu);

  const ProfileSnapshot snapshot = profile_.Snapshot();
  ASSERT_EQ(snapshot.ops.size(), 3);
  const OpRow* relu0 = FindOp(snapshot, OpKind::kRelu, kCpu0);
  ASSERT_NE(relu0, nullptr);
  EXPECT_EQ(relu0->launches, 2);
  EXPECT_EQ(relu0->errors, 0);
  EXPECT_EQ(relu0->bytes, 72);
  const OpRow* conv0 = FindOp(snapshot, OpKind::kConv, kCpu0);
  ASSERT_NE(conv0, nullptr);
  EXPECT_EQ(conv0->launches, 1);
  EXPECT_EQ(conv0->errors, 1);
  const OpRow* relu1 = FindOp(snapshot, OpKind::kRelu, kCpu1);
  ASSERT_NE(relu1, nullptr);
  EXPECT_EQ(relu1->launches, 1);

  ASSERT_NE(FindKernel(snapshot, "relu_f32"), nullptr);
  EXPECT_EQ(FindKernel(snapshot, "relu_f32")->launches, 2);
  EXPECT_EQ(FindKernel(snapshot, "relu_f32")->dtype, DType::kFloat32);
  EXPECT_EQ(FindDuration(snapshot, OpKind::kRelu).host.count(), 3);
  EXPECT_EQ(FindDuration(snapshot, OpKind::kConv).host.count(), 1);
}

TEST_F(OpProfileTest, SampledCountsEveryLaunchAndTimesOneExecutionInN) {
  constexpr int kExecutions = 700;
  constexpr int kSampleEvery = 7;
  const LaunchSite site = Site(OpKind::kRelu, "relu_f32");
  auto shard = profile_.CreateShard(kCpu0);
  Configure(Mode::kSampled, kSampleEvery);
  Execute(shard.get(), site);
  EXPECT_EQ(FindDuration(profile_.Snapshot(), OpKind::kRelu).host.count(), 1)
      << "the first execution of a lane is timed";
  for (int i = 1; i < kExecutions; ++i) Execute(shard.get(), site);

  const ProfileSnapshot snapshot = profile_.Snapshot();
  EXPECT_EQ(FindOp(snapshot, OpKind::kRelu, kCpu0)->launches, kExecutions);
  EXPECT_EQ(FindDuration(snapshot, OpKind::kRelu).host.count(),
            kExecutions / kSampleEvery);
}

TEST_F(OpProfileTest, SamplingDoesNotFavourOneOfTwoAlternatingGraphs) {
  const LaunchSite prefill = Site(OpKind::kConv, "conv_f32");
  const LaunchSite decode = Site(OpKind::kGemm, "gemm_f32");
  auto shard = profile_.CreateShard(kCpu0);
  Configure(Mode::kSampled, 2);
  for (int i = 0; i < 1000; ++i) {
    Execute(shard.get(), i % 2 == 0 ? prefill : decode);
  }
  const ProfileSnapshot snapshot = profile_.Snapshot();
  const uint64_t of_prefill =
      FindDuration(snapshot, OpKind::kConv).host.count();
  const uint64_t of_decode = FindDuration(snapshot, OpKind::kGemm).host.count();
  EXPECT_EQ(of_prefill + of_decode, 500);
  EXPECT_GT(of_prefill, 150);
  EXPECT_GT(of_decode, 150);
}

TEST_F(OpProfileTest, AnExecutionKeepsTheModeWithWhichItBegan) {
  const LaunchSite site = Site(OpKind::kRelu, "relu_f32");
  auto shard = profile_.CreateShard(kCpu0);
  Configure(Mode::kFull);
  ExecutionScope scope(shard.get());
  EXPECT_TRUE(CountLaunch(scope.shard(), site, Succeed).ok());
  Configure(Mode::kOff);
  EXPECT_TRUE(CountLaunch(scope.shard(), site, Succeed).ok());
  EXPECT_EQ(profile_.Snapshot().launches(), 2);
}

TEST_F(OpProfileTest, SwitchingOffKeepsWhatWasCounted) {
  const LaunchSite site = Site(OpKind::kRelu, "relu_f32");
  auto shard = profile_.CreateShard(kCpu0);
  Configure(Mode::kFull);
  Execute(shard.get(), site);
  Configure(Mode::kOff);
  Execute(shard.get(), site);
  EXPECT_EQ(profile_.Snapshot().launches(), 1);
}

TEST_F(OpProfileTest, OnlyARealChangeOfConfigurationBeginsAnEpoch) {
  EXPECT_EQ(profile_.Snapshot().epoch, 0);
  Configure(Mode::kSampled, 8);
  Configure(Mode::kSampled, 8);
  EXPECT_EQ(profile_.Snapshot().epoch, 1);
  Configure(Mode::kSampled, 9);
  EXPECT_EQ(profile_.Snapshot().epoch, 2);
  EXPECT_EQ(profile_.config().sample_every, 9);
}

TEST_F(OpProfileTest, SampledWithoutAnNIsRefusedAndChangesNothing) {
  Configure(Mode::kFull);
  EXPECT_EQ(profile_.Configure({Mode::kSampled, 0}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(profile_.config().mode, Mode::kFull);
}

TEST_F(OpProfileTest, ARetiredShardLeavesItsCountsBehind) {
  const LaunchSite site = Site(OpKind::kRelu, "relu_f32", 8);
  Configure(Mode::kFull);
  auto shard = profile_.CreateShard(kCpu0);
  Execute(shard.get(), site);
  const ProfileSnapshot before = profile_.Snapshot();
  shard.reset();
  const ProfileSnapshot after = profile_.Snapshot();
  ASSERT_EQ(after.ops.size(), 1);
  EXPECT_EQ(after.ops[0].launches, 1);
  EXPECT_EQ(after.ops[0].bytes, 8);
  EXPECT_EQ(FindDuration(after, OpKind::kRelu).host.counts,
            FindDuration(before, OpKind::kRelu).host.counts);
  EXPECT_EQ(FindDuration(after, OpKind::kRelu).host.sum_ns,
            FindDuration(before, OpKind::kRelu).host.sum_ns);
}

TEST_F(OpProfileTest, ASlotGivenOutAfterAShardWasMadeCountsThere) {
  auto shard = profile_.CreateShard(kCpu0);
  Configure(Mode::kFull);
  LaunchSite site;
  for (int i = 0; i < 200; ++i) {  // several chunks
    site = Site(OpKind::kRelu, "relu_" + std::to_string(i));
    Execute(shard.get(), site);
  }
  const ProfileSnapshot snapshot = profile_.Snapshot();
  EXPECT_EQ(snapshot.launches(), 200);
  EXPECT_EQ(snapshot.kernels.size(), 200);
}

TEST_F(OpProfileTest, NobodysSlotIsNotReported) {
  auto shard = profile_.CreateShard(kCpu0);
  Configure(Mode::kFull);
  LaunchSite never_given_a_slot;
  // The lane has no slot at all yet; its first one makes room for this one too.
  const LaunchSite relu = Site(OpKind::kRelu, "relu_f32");
  Execute(shard.get(), never_given_a_slot);
  Execute(shard.get(), relu);
  EXPECT_EQ(profile_.Snapshot().launches(), 1);
}

TEST_F(OpProfileTest, TheSameFourGiveTheSameSlotAndDescribeTellsThem) {
  const uint32_t slot = profile_.SlotFor(OpKind::kConv, BackendId::kCuda,
                                         "conv_tf32", DType::kFloat32);
  EXPECT_EQ(slot, profile_.SlotFor(OpKind::kConv, BackendId::kCuda, "conv_tf32",
                                   DType::kFloat32));
  EXPECT_NE(slot, profile_.SlotFor(OpKind::kConv, BackendId::kCuda, "conv_tf32",
                                   DType::kFloat16));
  const SlotIdentity id = profile_.Describe(slot);
  EXPECT_EQ(id.op, OpLabel(OpKind::kConv));
  EXPECT_EQ(id.backend, BackendId::kCuda);
  EXPECT_EQ(id.kernel, "conv_tf32");
  EXPECT_EQ(profile_.Describe(kNoSlot).kernel, "");
  EXPECT_EQ(profile_.Describe(4000).kernel, "");
}

TEST_F(OpProfileTest, KernelsPastTheBoundShareASlotAndTheOpStaysExact) {
  constexpr int kKernels = 5000;
  auto shard = profile_.CreateShard(kCpu0);
  Configure(Mode::kFull);
  ExecutionScope scope(shard.get());
  for (int i = 0; i < kKernels; ++i) {
    const LaunchSite site = Site(OpKind::kRelu, "relu_" + std::to_string(i));
    ASSERT_LT(site.slot, kMaxSlotCount);
    ASSERT_TRUE(CountLaunch(scope.shard(), site, Succeed).ok());
  }
  const ProfileSnapshot snapshot = profile_.Snapshot();
  EXPECT_EQ(FindOp(snapshot, OpKind::kRelu, kCpu0)->launches, kKernels);
  ASSERT_NE(FindKernel(snapshot, "other"), nullptr);
  EXPECT_GT(FindKernel(snapshot, "other")->launches, 1000);
  EXPECT_LE(snapshot.kernels.size(), SlotTable::kMaxKernelSlots);
}

TEST_F(OpProfileTest, DeviceDurationsAreTheirOwnHistogram) {
  profile_.AddDeviceDuration(OpKind::kConv, BackendId::kCuda, 2'000);
  profile_.AddDeviceDuration(OpKind::kConv, BackendId::kCuda, 50);
  const DurationRow row = FindDuration(profile_.Snapshot(), OpKind::kConv);
  EXPECT_EQ(row.backend, BackendId::kCuda);
  EXPECT_EQ(row.device.count(), 2);
  EXPECT_EQ(row.device.sum_ns, 2'050);
  EXPECT_EQ(row.device.counts[DurationBucket(2'000)], 1);
  EXPECT_EQ(row.host.count(), 0);
}

TEST_F(OpProfileTest, DifferenceHasOnlyWhatWasAddedInBetween) {
  const LaunchSite relu = Site(OpKind::kRelu, "relu_f32", 8);
  const LaunchSite conv = Site(OpKind::kConv, "conv_f32", 100);
  auto shard = profile_.CreateShard(kCpu0);
  Configure(Mode::kFull);
  Execute(shard.get(), relu);
  const ProfileSnapshot older = profile_.Snapshot();
  for (int i = 0; i < 3; ++i) Execute(shard.get(), conv);
  const ProfileSnapshot newer = profile_.Snapshot();

  const ProfileDifference difference = Difference(newer, older);
  ASSERT_EQ(difference.added.ops.size(), 1);
  EXPECT_EQ(difference.added.ops[0].op, OpLabel(OpKind::kConv));
  EXPECT_EQ(difference.added.ops[0].launches, 3);
  EXPECT_EQ(difference.added.ops[0].bytes, 300);
  ASSERT_EQ(difference.added.kernels.size(), 1);
  EXPECT_EQ(difference.added.kernels[0].kernel, "conv_f32");
  ASSERT_EQ(difference.added.durations.size(), 1);
  EXPECT_EQ(difference.added.durations[0].host.count(), 3);
  EXPECT_GE(difference.elapsed, absl::ZeroDuration());
  EXPECT_FALSE(difference.spans_epochs);
}

TEST_F(OpProfileTest, DifferenceSaysWhenTheModeChangedInBetween) {
  Configure(Mode::kFull);
  const ProfileSnapshot older = profile_.Snapshot();
  Configure(Mode::kSampled);
  EXPECT_TRUE(Difference(profile_.Snapshot(), older).spans_epochs);
}

}  // namespace
}  // namespace tensord::op_profile
