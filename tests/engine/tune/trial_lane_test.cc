// A trial's lane on a device of its own: what it leaves to a device that is not
// done, and when it keeps off.

#include "engine/tune/trial_lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "engine/pool/device_pool.h"
#include "tests/engine/tune/tuning_harness.h"
#include "tests/support/fake_backend.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

constexpr DeviceId kFake0{BackendId::kVulkan, 0};
constexpr uint64_t kBytes = 64;

// Enqueues a part of its work, and then fails.
absl::Status RunHalf(const KernelCall& call) {
  absl::Status status =
      call.context.lane->Copy(call.inputs[0], call.outputs[0]);
  if (!status.ok()) return status;
  return absl::InternalError("half way");
}

class TrialLaneTest : public ::testing::Test {
 protected:
  TrialLaneTest() {
    std::vector<std::unique_ptr<Device>> devices;
    devices.push_back(*fake_.OpenDevice(0));
    PoolOptions options;
    options.lanes_per_device = 1;
    options.run = [](LaneSlot&, const CompiledGraph&, Execution&, BufferPool&,
                     PreparationChannel*, bool*) { return absl::OkStatus(); };
    pool_ = *DevicePool::Create(std::move(devices), options,
                                PoolServices{.buffers = &buffers_,
                                             .open = &open_,
                                             .watch = &watch_,
                                             .reroute = [](Execution&) {}});
    TunerOptions tuning;
    tuning.launch_timeout = absl::Milliseconds(20);
    tuning.idle_timeout = absl::Milliseconds(20);
    lane_ = *TrialLane::Create(device(), nullptr, is_stopped_, tuning);
    memory_ = std::make_shared<TrialMemory>();
    for (StorageView* view : {&source_, &destination_}) {
      memory_->storages.push_back(*lane_->device().Allocate(kBytes));
      *view = {memory_->storages.back().get(), 0, kBytes};
    }
  }
  ~TrialLaneTest() override {
    EXPECT_EQ(fake_.control(0).counts().dropped_in_flight, 0);
    watch_.Stop();
  }

  PooledDevice& device() { return *pool_->Find(kFake0); }

  // Nobody but the lane has it any more, and it lives until the device went on.
  template <typename T>
  void ExpectKeptUntilResumed(std::shared_ptr<T>& owner) {
    const std::weak_ptr<T> weak = owner;
    owner.reset();
    EXPECT_FALSE(weak.expired());
    fake_.control(0).Resume();
    EXPECT_TRUE(Await([&] { return weak.expired(); }));
  }

  FakeBackend fake_{BackendId::kVulkan};
  BufferPool buffers_{0};
  OpenExecutions open_{nullptr};
  DeadlineWatch watch_;
  std::unique_ptr<DevicePool> pool_;
  std::atomic<bool> is_stopped_{false};
  std::shared_ptr<TrialMemory> memory_;
  StorageView source_, destination_;
  std::unique_ptr<TrialLane> lane_;
};

TEST_F(TrialLaneTest, BytesOfAnUploadOutliveATrialThatGaveUp) {
  const FakePause pause(fake_.control(0));
  auto bytes = std::make_shared<HostBytes>(kBytes);
  EXPECT_THAT(
      lane_->Upload(bytes, source_, memory_),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("not done after")));
  memory_.reset();
  ExpectKeptUntilResumed(bytes);
}

TEST_F(TrialLaneTest, BytesOfADownloadOutliveATunerThatStops) {
  const FakePause pause(fake_.control(0));
  auto bytes = std::make_shared<HostBytes>(kBytes);
  std::thread stop([&] {
    Await([&] { return fake_.control(0).counts().copies_enqueued == 1; });
    is_stopped_ = true;
  });
  const absl::Status status = lane_->Download(source_, bytes, memory_);
  stop.join();
  // Either of the two, as it comes.
  EXPECT_TRUE(absl::IsCancelled(status) || absl::IsUnavailable(status))
      << status;
  memory_.reset();
  ExpectKeptUntilResumed(bytes);
}

TEST_F(TrialLaneTest, MemoryOutlivesAKernelThatFailsHalfWay) {
  const FakePause pause(fake_.control(0));
  const KernelEntry entry{
      .op = OpKind::kRelu, .name = "half", .source = "", .run = &RunHalf};
  const OpParams params;
  EXPECT_THAT(lane_->Launch({.entry = entry,
                             .inputs = absl::MakeConstSpan(&source_, 1),
                             .outputs = absl::MakeConstSpan(&destination_, 1),
                             .params = params},
                            memory_),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("half way")));
  ExpectKeptUntilResumed(memory_);
}

TEST_F(TrialLaneTest, ADeviceThatDrainsIsLeftAlone) {
  device().SetDraining(true);
  const auto bytes = std::make_shared<HostBytes>(kBytes);
  EXPECT_THAT(lane_->Upload(bytes, source_, memory_),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("busy for")));
  EXPECT_EQ(fake_.control(0).counts().copies_enqueued, 0);
  device().SetDraining(false);
  // Not with 20 ms for a copy: the machine may be busy.
  TunerOptions patient;
  const auto lane = *TrialLane::Create(device(), nullptr, is_stopped_, patient);
  EXPECT_THAT(lane->Upload(bytes, source_, memory_), IsOk());
}

}  // namespace
}  // namespace tensord
