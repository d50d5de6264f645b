// What a CUDA lane does beyond the contract that every lane is tested by.

#include <utility>
#include <vector>

#include "backends/cuda/staging_ring.h"
#include "tests/backends/cuda/device/emulated_gpu.h"

namespace tensord::cuda {
namespace {

using ::testing::HasSubstr;

class CudaLaneTest : public EmulatedGpuTest {};

TEST_F(CudaLaneTest, OrdinaryMemoryIsFreeAgainWhenTheCallReturns) {
  const auto bytes = PatternBytes(1000);
  const auto storage = Allocate(1000);
  std::vector<std::byte> source = bytes;
  emulation::Pause(kGpu);
  ASSERT_THAT(lane().CopyToDevice(source, WholeOf(*storage)), IsOk());
  source.assign(1000, std::byte{0});
  emulation::Resume(kGpu);
  EXPECT_EQ(Download(*storage), bytes);
}

TEST_F(CudaLaneTest, PinnedMemoryIsCopiedInPlace) {
  const auto pinned = device().AllocateHostVisible(1000).value();
  const absl::Span<std::byte> host(pinned->address(), 1000);
  const auto bytes = PatternBytes(1000);
  const auto storage = Upload(bytes);
  Finish();
  const int64_t before = counts().submissions;
  ASSERT_THAT(lane().CopyToHost(WholeOf(*storage), host), IsOk());
  Finish();
  EXPECT_EQ(std::vector<std::byte>(host.begin(), host.end()), bytes);
  EXPECT_EQ(counts().submissions - before, 2);  // the copy and the event
}

TEST_F(CudaLaneTest, CopiesMayBeLargerThanTheStagingMemory) {
  const auto bytes = PatternBytes(3 * StagingRing::kBytes + 77);
  const auto storage = Upload(bytes);
  EXPECT_EQ(Download(*storage), bytes);
  // What was staged does not move the storage's neighbours.
  EXPECT_EQ(Download(*Upload(PatternBytes(99))), PatternBytes(99));
}

TEST_F(CudaLaneTest, BytesForTheHostComeBeforeTheirCompletion) {
  const auto bytes = PatternBytes(1000);
  const auto storage = Upload(bytes);
  Finish();
  std::vector<std::byte> host(1000);
  emulation::Pause(kGpu);
  ASSERT_THAT(lane().CopyToHost(WholeOf(*storage), absl::MakeSpan(host)),
              IsOk());
  const CompletionHandle handle = lane().RecordCompletion().value();
  EXPECT_FALSE(handle.IsReady());
  EXPECT_EQ(host, std::vector<std::byte>(1000));
  emulation::Resume(kGpu);
  EXPECT_THAT(handle.WaitUntil(absl::InfiniteFuture()), IsOk());
  EXPECT_EQ(host, bytes);
}

TEST_F(CudaLaneTest, NoEventIsRecordedBeforeSomebodyWaits) {
  const auto x = Upload(PatternBytes(64));
  const auto y = Allocate(64);
  Finish();
  const int64_t before = counts().events_recorded;
  for (int i = 0; i < 10; ++i) {
    ASSERT_THAT(LaunchIdentity(*x, *y), IsOk());
  }
  EXPECT_EQ(counts().events_recorded, before);
  Finish();
  EXPECT_EQ(counts().events_recorded, before + 1);
}

TEST_F(CudaLaneTest, DrainGivesUpAtItsDeadline) {
  const auto x = Upload(PatternBytes(64));
  const auto y = Allocate(64);
  emulation::Pause(kGpu);
  ASSERT_THAT(LaunchIdentity(*x, *y), IsOk());
  EXPECT_THAT(lane().Drain(absl::Now() + absl::Milliseconds(1)),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("in flight at the deadline")));
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owner;
  lane().Retain(std::move(owner));
  EXPECT_FALSE(watch.expired());
  emulation::Resume(kGpu);
  EXPECT_THAT(lane().Drain(absl::InfiniteFuture()), IsOk());
  EXPECT_TRUE(watch.expired());
}

TEST_F(CudaLaneTest, CopiesBetweenGpus) {
  const auto other = backend().OpenDevice(0).value();
  const auto there = other->Allocate(1000).value();
  const auto bytes = PatternBytes(1000);
  const auto here = Upload(bytes);
  const auto back = Allocate(1000);
  ASSERT_THAT(lane().Copy(WholeOf(*here), WholeOf(*there)), IsOk());
  ASSERT_THAT(lane().Copy(WholeOf(*there), WholeOf(*back)), IsOk());
  EXPECT_EQ(Download(*back), bytes);
  EXPECT_THAT(lane().Copy({here.get(), 0, 8}, {there.get(), 996, 8}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("offset 996")));
}

TEST_F(CudaLaneTest, TheLastEventsOfALaneAreWaitedForByItsDestructor) {
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owner;
  auto x = Upload(PatternBytes(64));
  lane().Retain(std::shared_ptr<Storage>(std::move(x)));
  lane().Retain(std::move(owner));
  Close();
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(counts().streams_alive, 0);
}

}  // namespace
}  // namespace tensord::cuda
