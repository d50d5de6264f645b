#include "tests/support/fake_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/cpu/host_worker_pool.h"
#include "tests/support/fake_device.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/matchers.h"
#include "tests/support/tensor.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const KernelEntry& KernelNamed(const Backend& backend, absl::string_view name) {
  for (const KernelEntry& kernel : backend.kernels()) {
    if (kernel.name == name) return kernel;
  }
  ADD_FAILURE() << "no kernel " << name;
  return backend.kernels()[0];
}

class FakeBackendTest : public ::testing::Test {
 protected:
  std::unique_ptr<Lane> NewLane() { return device_->CreateLane().value(); }

  // Enqueues an Identity launch of one storage onto itself.
  absl::Status Launch(Lane& lane) {
    const KernelEntry& kernel = KernelNamed(backend_, "fake_identity");
    const StorageView view{storage_.get(), 0, 4};
    const std::vector<Layout> layouts(2, Layout::Contiguous(Shape({1})));
    LaunchContext context;
    context.lane = &lane;
    const OpParams params = NoParams{};
    return kernel.run({context,
                       {&view, 1},
                       {&view, 1},
                       layouts,
                       params,
                       /*state=*/nullptr});
  }

  absl::StatusOr<KernelResult> Run(absl::string_view kernel,
                                   const TestNode& node) {
    std::unique_ptr<Lane> lane = NewLane();
    return RunKernel(KernelNamed(backend_, kernel), node, *device_, *lane,
                     workers_);
  }

  HostWorkerPool workers_{1};
  FakeBackend backend_{BackendId::kCuda};
  FakeControl& control_ = backend_.control(0);
  std::unique_ptr<Device> device_ = backend_.OpenDevice(0).value();
  std::unique_ptr<Storage> storage_ = device_->Allocate(64).value();
};

TEST_F(FakeBackendTest, KernelsCompute) {
  const TestNode add{
      .op = OpKind::kAdd,
      .inputs = {Tensor({2, 2}, {1, 2, 3, 4}), Tensor({2}, {10, 20})},
      .outputs = {{DType::kFloat32, Shape({2, 2})}}};
  EXPECT_THAT(Run("fake_add", add)->outputs[0], Near({11, 22, 13, 24}, 0));

  const TestNode matmul{
      .op = OpKind::kMatMul,
      .inputs = {Tensor({2, 2}, {1, 2, 3, 4}), Tensor({2, 1}, {5, 6})},
      .outputs = {{DType::kFloat32, Shape({2, 1})}}};
  EXPECT_THAT(Run("fake_matmul", matmul)->outputs[0], Near({17, 39}, 0));

  const TestNode relu{.op = OpKind::kRelu,
                      .inputs = {Tensor({3}, {-1, 0, 2})},
                      .outputs = {{DType::kFloat32, Shape({3})}}};
  EXPECT_THAT(Run("fake_relu", relu)->outputs[0], Near({0, 0, 2}, 0));
  EXPECT_THAT(Run("fake_relu_by_4", relu),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("3 is no multiple of 4")));
}

TEST_F(FakeBackendTest, NonZeroWritesItsExtentCells) {
  const TestNode node{.op = OpKind::kNonZero,
                      .inputs = {Tensor({2, 2}, {0, 5, 7, 0})},
                      .outputs = {{DType::kInt64, Shape({2, 4})}},
                      .extent_cell_count = 2};
  const KernelResult result = Run("fake_nonzero_f32", node).value();
  EXPECT_THAT(result.extents, ElementsAre(2, 2));
  EXPECT_THAT(result.outputs[0].values<int64_t>().first(4),
              ElementsAre(0, 1, 1, 0));
}

TEST_F(FakeBackendTest, NothingExecutesWhilePausedButByStep) {
  std::unique_ptr<Lane> lane = NewLane();
  FakePause pause(control_);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(Launch(*lane), IsOk());
  CompletionHandle all = lane->RecordCompletion().value();
  EXPECT_EQ(control_.counts().launches_executed, 0);
  EXPECT_FALSE(all.IsReady());
  EXPECT_EQ(control_.Step(0, 2), 2);
  EXPECT_EQ(control_.counts().launches_executed, 2);
  EXPECT_FALSE(all.IsReady());
  EXPECT_EQ(control_.Step(0, 2), 1);
  EXPECT_TRUE(all.IsReady());
}

TEST_F(FakeBackendTest, LanesCanBeRunInAnyOrder) {
  std::unique_ptr<Lane> first = NewLane();
  std::unique_ptr<Lane> second = NewLane();
  FakePause pause(control_);
  ASSERT_THAT(Launch(*first), IsOk());
  CompletionHandle of_first = first->RecordCompletion().value();
  ASSERT_THAT(Launch(*second), IsOk());
  CompletionHandle of_second = second->RecordCompletion().value();
  EXPECT_EQ(control_.Step(1), 1);
  EXPECT_TRUE(of_second.IsReady());
  EXPECT_FALSE(of_first.IsReady());
}

TEST_F(FakeBackendTest, HeldCompletionsAreDeliveredInTheOrderAskedFor) {
  std::unique_ptr<Lane> lane = NewLane();
  control_.HoldCompletions();
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(Launch(*lane), IsOk());
    lane->RecordCompletion()->OnReady(
        [&order, i](const absl::Status&) { order.push_back(i); });
  }
  ASSERT_THAT(lane->Drain(absl::InfiniteFuture()), IsOk());
  EXPECT_EQ(control_.held_completion_count(), 3);
  EXPECT_THAT(order, ElementsAre());
  control_.DeliverCompletions(FakeDelivery::kReversed);
  EXPECT_THAT(order, ElementsAre(2, 1, 0));
  control_.StopHolding();
}

TEST_F(FakeBackendTest, AFailedLaunchFaultsTheDeviceForGood) {
  std::unique_ptr<Lane> lane = NewLane();
  std::unique_ptr<Lane> other = NewLane();
  auto owner = std::make_shared<int>(1);
  CompletionHandle before = CompletionHandle::Ready();
  CompletionHandle after = before;
  CompletionHandle elsewhere = before;
  {
    FakePause pause(control_);
    control_.FailLaunch(1);
    ASSERT_THAT(Launch(*lane), IsOk());
    before = lane->RecordCompletion().value();
    ASSERT_THAT(Launch(*lane), IsOk());
    after = lane->RecordCompletion().value();
    lane->Retain(owner);
    ASSERT_THAT(Launch(*other), IsOk());
    elsewhere = other->RecordCompletion().value();
    EXPECT_EQ(control_.Step(0, 2), 2);
  }
  EXPECT_THAT(before.WaitUntil(absl::InfiniteFuture()), IsOk());
  const auto is_lost =
      StatusIs(absl::StatusCode::kUnavailable,
               HasSubstr("cuda:0 is lost: injected fault at launch 1"));
  EXPECT_THAT(after.WaitUntil(absl::InfiniteFuture()), is_lost);
  EXPECT_THAT(elsewhere.WaitUntil(absl::InfiniteFuture()), is_lost);
  EXPECT_THAT(device_->health(), is_lost);
  EXPECT_THAT(Launch(*lane), is_lost);
  EXPECT_THAT(lane->RecordCompletion(), is_lost);
  EXPECT_THAT(device_->Allocate(1), is_lost);
  EXPECT_THAT(device_->CreateLane(), is_lost);
  EXPECT_EQ(control_.counts().retained_owners, 0);
  EXPECT_EQ(owner.use_count(), 1);
}

TEST_F(FakeBackendTest, AReopenedDeviceIsHealthy) {
  EXPECT_THAT(backend_.OpenDevice(0),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("open already")));
  control_.Fault("pulled out");
  EXPECT_FALSE(device_->health().ok());
  storage_.reset();
  device_.reset();
  device_ = backend_.OpenDevice(0).value();
  EXPECT_THAT(device_->health(), IsOk());
}

TEST_F(FakeBackendTest, AHungLaneStandsStillAndTheOthersGoOn) {
  std::unique_ptr<Lane> hung = NewLane();
  std::unique_ptr<Lane> other = NewLane();
  control_.HangLaunch(0);
  ASSERT_THAT(Launch(*hung), IsOk());
  CompletionHandle of_hung = hung->RecordCompletion().value();
  ASSERT_THAT(Launch(*other), IsOk());
  EXPECT_THAT(other->Drain(absl::InfiniteFuture()), IsOk());
  EXPECT_FALSE(of_hung.IsReady());
  EXPECT_THAT(hung->Drain(absl::InfinitePast()),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("2 operations in flight")));
  control_.ReleaseHang();
  EXPECT_THAT(hung->Drain(absl::InfiniteFuture()), IsOk());
}

TEST_F(FakeBackendTest, FreedMemoryIsPoisonedAndItsUseInFlightIsFound) {
  std::unique_ptr<Lane> lane = NewLane();
  const auto* bytes = reinterpret_cast<const uint8_t*>(storage_->address());
  {
    FakePause pause(control_);
    ASSERT_THAT(Launch(*lane), IsOk());
    storage_.reset();  // too early
    EXPECT_EQ(bytes[0], 0xDD);
    EXPECT_EQ(bytes[63], 0xDD);
  }
  EXPECT_THAT(lane->Drain(absl::InfiniteFuture()),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("freed while it was in flight")));
  EXPECT_EQ(control_.counts().dropped_in_flight, 1);
}

TEST_F(FakeBackendTest, RetainKeepsUntilTheWorkIsDone) {
  std::unique_ptr<Lane> lane = NewLane();
  {
    FakePause pause(control_);
    ASSERT_THAT(Launch(*lane), IsOk());
    lane->Retain(std::shared_ptr<Storage>(std::move(storage_)));
    EXPECT_EQ(control_.counts().retained_owners, 1);
    EXPECT_EQ(control_.counts().storages_alive, 1);
  }
  EXPECT_THAT(lane->Drain(absl::InfiniteFuture()), IsOk());
  EXPECT_EQ(control_.counts().retained_owners, 0);
  EXPECT_EQ(control_.counts().storages_alive, 0);
  EXPECT_EQ(control_.counts().dropped_in_flight, 0);
}

// What a proof of pipelining needs: node k's preparation waits for a latch that
// the execution of node 0 opens.
TEST_F(FakeBackendTest, PreparationCanWaitForAnExecution) {
  std::unique_ptr<Lane> lane = NewLane();
  std::latch executed(1);
  control_.SetPrepareHook([&executed](const NodeSite& site) {
    if (site.op == OpKind::kRelu) executed.wait();
    return absl::OkStatus();
  });
  control_.SetExecuteHook([&executed](const FakeLaunchInfo& launch) {
    if (launch.launch_index == 0) executed.count_down();
  });
  std::thread compiler([&] {
    const TestNode relu{.op = OpKind::kRelu,
                        .inputs = {Tensor({1}, {-1})},
                        .outputs = {{DType::kFloat32, Shape({1})}}};
    EXPECT_THAT(Run("fake_relu", relu)->outputs[0], Near({0}, 0));
  });
  ASSERT_THAT(Launch(*lane), IsOk());
  compiler.join();
  EXPECT_EQ(control_.counts().prepares, 1);
  EXPECT_EQ(control_.counts().states_alive, 0);
}

TEST_F(FakeBackendTest, PrepareHookCanFail) {
  control_.SetPrepareHook(
      [](const NodeSite&) { return absl::InternalError("no compiler"); });
  const TestNode relu{.op = OpKind::kRelu,
                      .inputs = {Tensor({1}, {-1})},
                      .outputs = {{DType::kFloat32, Shape({1})}}};
  EXPECT_THAT(Run("fake_relu", relu),
              StatusIs(absl::StatusCode::kInternal, "no compiler"));
}

TEST_F(FakeBackendTest, TimestampsCoverTheWorkSinceTheLastCompletion) {
  std::unique_ptr<Lane> lane = NewLane();
  FakePause pause(control_);
  ASSERT_THAT(Launch(*lane), IsOk());
  ASSERT_THAT(Launch(*lane), IsOk());
  CompletionHandle two = lane->RecordCompletion().value();
  ASSERT_THAT(Launch(*lane), IsOk());
  CompletionHandle one = lane->RecordCompletion().value();
  EXPECT_EQ(control_.Step(0, 3), 3);
  const DeviceTimestamps of_two = two.completion()->device_timestamps().value();
  const DeviceTimestamps of_one = one.completion()->device_timestamps().value();
  EXPECT_EQ(of_two.end_ns - of_two.start_ns, 2000);
  EXPECT_EQ(of_one.start_ns, of_two.end_ns);
  EXPECT_EQ(of_one.end_ns - of_one.start_ns, 1000);
}

TEST_F(FakeBackendTest, CountsWhatWasAskedOfIt) {
  std::unique_ptr<Lane> lane = NewLane();
  std::vector<std::byte> host(64);
  ASSERT_THAT(lane->CopyToDevice(host, {storage_.get(), 0, 64}), IsOk());
  ASSERT_THAT(Launch(*lane), IsOk());
  ASSERT_THAT(lane->RecordCompletion(), IsOk());
  ASSERT_TRUE(control_.AwaitLaunches(1));
  const FakeCounts counts = control_.counts();
  EXPECT_EQ(counts.launches_enqueued, 1);
  EXPECT_EQ(counts.copies_enqueued, 1);
  EXPECT_EQ(counts.completions_recorded, 1);
  EXPECT_EQ(counts.allocations, 1);
}

}  // namespace
}  // namespace tensord
