#include "engine/profile/phase_profile.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace tensord::op_profile {
namespace {

TEST(PhaseProfile, RowsExistFromFirstUseOnAndInOrder) {
  PhaseProfile profile;
  EXPECT_TRUE(profile.Snapshot().empty());
  profile.Add(Phase::kRun, BackendId::kNull, 5'000);
  profile.Add(Phase::kDecode, std::nullopt, 300);
  profile.Add(Phase::kRun, BackendId::kCpu, 7'000);
  const std::vector<PhaseRow> rows = profile.Snapshot();
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[0].phase, Phase::kDecode);
  EXPECT_EQ(rows[0].backend, std::nullopt);
  EXPECT_EQ(rows[1].phase, Phase::kRun);
  EXPECT_EQ(rows[1].backend, BackendId::kCpu);
  EXPECT_EQ(rows[1].durations.sum_ns, 7'000);
  EXPECT_EQ(rows[2].backend, BackendId::kNull);
  EXPECT_EQ(rows[2].durations.counts[DurationBucket(5'000)], 1);
}

TEST(PhaseProfile, NothingIsLostWhenThreadsShareStripes) {
  constexpr int kThreads = 2 * kStripeCount;
  constexpr int kAdds = 5000;
  PhaseProfile profile;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&profile] {
      for (int j = 0; j < kAdds; ++j) {
        profile.Add(Phase::kQueue, BackendId::kCpu, 10);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<PhaseRow> rows = profile.Snapshot();
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].durations.count(), kThreads * kAdds);
  EXPECT_EQ(rows[0].durations.sum_ns, kThreads * kAdds * 10);
}

TEST(PhaseTimer, RecordsOnceUnderTheBackendThatBecameKnown) {
  PhaseProfile profile;
  {
    PhaseTimer timer(&profile, Phase::kUpload);
    timer.set_backend(BackendId::kVulkan);
    timer.Stop();
    timer.Stop();
  }
  const std::vector<PhaseRow> rows = profile.Snapshot();
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].backend, BackendId::kVulkan);
  EXPECT_EQ(rows[0].durations.count(), 1);
}

TEST(PhaseTimer, WithoutAProfileRecordsNothing) {
  PhaseTimer timer(nullptr, Phase::kRun);
  timer.Stop();
}

TEST(Phase, EveryPhaseHasANameOfItsOwn) {
  for (int i = 0; i < kPhaseCount; ++i) {
    EXPECT_NE(PhaseName(static_cast<Phase>(i)), "other");
  }
}

}  // namespace
}  // namespace tensord::op_profile
