// Memory that is refused, GPUs that are lost, machines without any.

#include <memory>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tests/backends/cuda/device/emulated_gpu.h"

namespace tensord::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

auto IsLost() {
  return StatusIs(
      absl::StatusCode::kUnavailable,
      AllOf(HasSubstr("cuda:1 is lost"), HasSubstr("cudaErrorIllegalAddress")));
}

class CudaFaultTest : public EmulatedGpuTest {};

TEST_F(CudaFaultTest, MemoryThatIsRefusedIsNoFault) {
  emulation::RefuseAllocations(kGpu, 1);
  EXPECT_THAT(device().Allocate(1000),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("cuda:1: 1000 bytes"),
                             HasSubstr("cudaErrorMemoryAllocation"))));
  EXPECT_EQ(device().allocated_bytes(), 0u);
  EXPECT_THAT(device().health(), IsOk());
  EXPECT_THAT(device().Allocate(1000), IsOk());
}

TEST_F(CudaFaultTest, AStickyErrorReachesEverybodyWhoWaits) {
  const auto x = Upload(PatternBytes(64));
  const auto y = Allocate(64);
  Finish();
  const auto other = device().CreateLane().value();
  emulation::Pause(kGpu);
  emulation::FaultAtLaunch(kGpu, 1, cudaErrorIllegalAddress);
  ASSERT_THAT(LaunchIdentity(*x, *y), IsOk());
  ASSERT_THAT(LaunchIdentity(*x, *y), IsOk());
  const CompletionHandle first = lane().RecordCompletion().value();
  const CompletionHandle second = other->RecordCompletion().value();
  absl::Notification called;
  first.OnReady([&called](const absl::Status& status) {
    EXPECT_THAT(status, IsLost());
    called.Notify();
  });
  emulation::Resume(kGpu);
  EXPECT_THAT(first.WaitUntil(absl::InfiniteFuture()), IsLost());
  called.WaitForNotification();
  // The other lane had nothing to do, and may have ended before.
  if (absl::Status s = second.WaitUntil(absl::InfiniteFuture()); !s.ok()) {
    EXPECT_THAT(s, IsLost());
  }
}

TEST_F(CudaFaultTest, AFaultStays) {
  std::vector<std::byte> host(64);
  const auto storage = Upload(host);
  const StorageView view = WholeOf(*storage);
  Finish();
  emulation::Fault(kGpu, cudaErrorIllegalAddress);
  EXPECT_THAT(lane().RecordCompletion(), IsLost());
  EXPECT_THAT(device().health(), IsLost());
  EXPECT_THAT(device().Allocate(1), IsLost());
  EXPECT_THAT(device().AllocateHostVisible(1), IsLost());
  EXPECT_THAT(device().CreateLane(), IsLost());
  EXPECT_THAT(lane().CopyToDevice(host, view), IsLost());
  EXPECT_THAT(lane().CopyToHost(view, absl::MakeSpan(host)), IsLost());
  EXPECT_THAT(lane().Copy(view, view), IsLost());
  EXPECT_THAT(lane().BeginRecording(), IsLost());
  EXPECT_THAT(lane().ReserveTimeMarks(1), IsLost());
  EXPECT_THAT(lane().Drain(absl::InfiniteFuture()), IsLost());
}

TEST_F(CudaFaultTest, AFaultThatNobodyAskedAboutIsSeenByTheDrain) {
  const auto x = Upload(PatternBytes(64));
  const auto y = Allocate(64);
  Finish();
  emulation::FaultAtLaunch(kGpu, 0, cudaErrorIllegalAddress);
  ASSERT_THAT(LaunchIdentity(*x, *y), IsOk());
  EXPECT_THAT(lane().Drain(absl::InfiniteFuture()), IsLost());
  EXPECT_THAT(device().health(), IsLost());
}

TEST_F(CudaFaultTest, EveryStickyErrorLosesTheDevice) {
  emulation::Fault(kGpu, cudaErrorECCUncorrectable);
  EXPECT_THAT(lane().RecordCompletion(),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("cudaErrorECCUncorrectable")));
}

TEST_F(CudaFaultTest, TheOtherGpuGoesOn) {
  emulation::Fault(kGpu, cudaErrorIllegalAddress);
  EXPECT_THAT(lane().RecordCompletion(), IsLost());
  const auto other = backend().OpenDevice(0).value();
  const auto other_lane = other->CreateLane().value();
  const auto storage = other->Allocate(64).value();
  EXPECT_THAT(other_lane->CopyToDevice(PatternBytes(64), WholeOf(*storage)),
              IsOk());
  EXPECT_THAT(other_lane->Drain(absl::InfiniteFuture()), IsOk());
  EXPECT_THAT(other->health(), IsOk());
}

TEST_F(CudaFaultTest, ALostDeviceLetsGoOfAllThatItKept) {
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owner;
  auto x = Upload(PatternBytes(64));
  auto y = Allocate(64);
  emulation::Pause(kGpu);
  emulation::FaultAtLaunch(kGpu, 0, cudaErrorIllegalAddress);
  ASSERT_THAT(LaunchIdentity(*x, *y), IsOk());
  lane().Retain(std::move(owner));
  const CompletionHandle handle = lane().RecordCompletion().value();
  emulation::Resume(kGpu);
  EXPECT_THAT(handle.WaitUntil(absl::InfiniteFuture()), IsLost());
  EXPECT_TRUE(watch.expired());
  x.reset();
  y.reset();
  Close();
  EXPECT_EQ(counts().streams_alive, 0);
}

TEST(CudaBackend, AMachineWithoutADriverSaysSo) {
  emulation::Reset();
  emulation::SetDeviceCount(0);
  const auto backend = MakeCudaBackend(TestHostServices());
  EXPECT_EQ(backend->device_count(), 0);
  EXPECT_EQ(backend->why_none(), "no NVIDIA driver");
  EXPECT_THAT(backend->OpenDevice(0), StatusIs(absl::StatusCode::kNotFound,
                                               HasSubstr("no NVIDIA driver")));
  emulation::SetDeviceCount(0, cudaErrorNoDevice);
  EXPECT_EQ(MakeCudaBackend(TestHostServices())->why_none(),
            "an NVIDIA driver, but no GPU");
  emulation::Reset();
}

}  // namespace
}  // namespace tensord::cuda
