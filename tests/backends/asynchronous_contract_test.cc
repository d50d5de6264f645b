// What an asynchronous lane promises, on devices that a test can stop and
// fault.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "tests/support/backend_test.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

class AsynchronousContract : public BackendTest {
 protected:
  // Enqueues one piece of work.
  void EnqueueCopy(Lane& lane) {
    ASSERT_THAT(lane.CopyToDevice(host_, WholeOf(*storage_)), IsOk());
  }

  const std::vector<std::byte> host_ = PatternBytes(64);
  std::unique_ptr<Storage> storage_ = device().Allocate(64).value();
};

TEST_P(AsynchronousContract, AHandleIsPendingUntilTheWorkIsDone) {
  CompletionHandle handle = CompletionHandle::Ready();
  absl::Notification called;
  {
    FakePause pause(control());
    EnqueueCopy(lane());
    handle = lane().RecordCompletion().value();
    EXPECT_EQ(handle.state(), CompletionHandle::State::kPending);
    EXPECT_FALSE(handle.IsReady());
    EXPECT_THAT(handle.WaitUntil(absl::InfinitePast()),
                StatusIs(absl::StatusCode::kDeadlineExceeded,
                         HasSubstr("still running")));
    EXPECT_EQ(handle.completion()->device_timestamps(), std::nullopt);
    handle.OnReady([&called](const absl::Status&) { called.Notify(); });
    EXPECT_FALSE(called.HasBeenNotified());
  }
  EXPECT_THAT(handle.WaitUntil(absl::InfiniteFuture()), IsOk());
  EXPECT_TRUE(handle.IsReady());
  // Waiters wake before callbacks run.
  called.WaitForNotification();
}

TEST_P(AsynchronousContract, FinishedWorkHasDeviceTimestamps) {
  ASSERT_TRUE(device().info().has_timestamps);
  EnqueueCopy(lane());
  CompletionHandle handle = lane().RecordCompletion().value();
  ASSERT_THAT(handle.WaitUntil(absl::InfiniteFuture()), IsOk());
  const auto timestamps = handle.completion()->device_timestamps();
  ASSERT_TRUE(timestamps.has_value());
  EXPECT_GT(timestamps->end_ns, timestamps->start_ns);
}

TEST_P(AsynchronousContract, DrainGivesUpAtItsDeadline) {
  FakePause pause(control());
  EnqueueCopy(lane());
  EXPECT_THAT(
      lane().Drain(absl::InfinitePast()),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("in flight")));
}

TEST_P(AsynchronousContract, RetainedOwnersStayWhileTheWorkIsInFlight) {
  auto owner = std::make_shared<int>(1);
  std::weak_ptr<int> watch = owner;
  {
    FakePause pause(control());
    EnqueueCopy(lane());
    lane().Retain(std::move(owner));
    EXPECT_FALSE(watch.expired());
    // Work that comes later does not keep it longer.
    EnqueueCopy(lane());
    EXPECT_EQ(control().Step(0), 1);
    EXPECT_TRUE(watch.expired());
  }
}

TEST_P(AsynchronousContract, AFaultReachesEverybodyWhoWaits) {
  std::unique_ptr<Lane> other = device().CreateLane().value();
  std::vector<CompletionHandle> handles;
  std::vector<std::thread> waiters;
  std::latch called(2);
  FakePause pause(control());
  for (Lane* each : {&lane(), other.get()}) {
    EnqueueCopy(*each);
    handles.push_back(each->RecordCompletion().value());
  }
  const auto is_lost =
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is lost: unplugged"));
  for (const CompletionHandle& handle : handles) {
    waiters.emplace_back([&handle, is_lost] {
      EXPECT_THAT(handle.WaitUntil(absl::InfiniteFuture()), is_lost);
    });
    handle.OnReady([&called, is_lost](const absl::Status& status) {
      EXPECT_THAT(status, is_lost);
      called.count_down();
    });
  }
  control().Fault("unplugged");
  for (std::thread& waiter : waiters) waiter.join();
  called.wait();
}

TEST_P(AsynchronousContract, AFaultStays) {
  const auto is_lost =
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is lost: unplugged"));
  control().Fault("unplugged");
  control().Fault("something later");
  std::vector<std::byte> host(64);
  const StorageView view = WholeOf(*storage_);
  EXPECT_THAT(device().health(), is_lost);
  EXPECT_THAT(device().Allocate(1), is_lost);
  EXPECT_THAT(device().AllocateHostVisible(1), is_lost);
  EXPECT_THAT(device().CreateLane(), is_lost);
  EXPECT_THAT(lane().CopyToDevice(host, view), is_lost);
  EXPECT_THAT(lane().CopyToHost(view, absl::MakeSpan(host)), is_lost);
  EXPECT_THAT(lane().Copy(view, view), is_lost);
  EXPECT_THAT(lane().RecordCompletion(), is_lost);
  EXPECT_THAT(lane().Drain(absl::InfiniteFuture()), is_lost);
}

TEST_P(AsynchronousContract, AFaultLetsGoOfWhatWasRetained) {
  auto owner = std::make_shared<int>(1);
  std::weak_ptr<int> watch = owner;
  FakePause pause(control());
  EnqueueCopy(lane());
  lane().Retain(std::move(owner));
  control().Fault("unplugged");
  EXPECT_TRUE(watch.expired());
  lane().Retain(std::make_shared<int>(2));  // nothing is in flight
  EXPECT_EQ(control().counts().retained_owners, 0);
}

TEST_P(AsynchronousContract, AFaultLeavesTheOtherDevicesAlone) {
  std::unique_ptr<Device> other = backend().OpenDevice(0).value();
  std::unique_ptr<Lane> other_lane = other->CreateLane().value();
  control().Fault("unplugged");
  EXPECT_THAT(other->health(), IsOk());
  Finish(*other_lane);
}

TEST_P(AsynchronousContract, WhatWasDoneBeforeAFaultStaysDone) {
  EnqueueCopy(lane());
  CompletionHandle handle = lane().RecordCompletion().value();
  ASSERT_THAT(handle.WaitUntil(absl::InfiniteFuture()), IsOk());
  control().Fault("unplugged");
  EXPECT_THAT(handle.WaitUntil(absl::InfiniteFuture()), IsOk());
}

TEST_P(AsynchronousContract, ADeviceCanBeClosedAfterAFault) {
  EnqueueCopy(lane());
  control().Fault("unplugged");
  storage_.reset();
  CloseDevice();
  EXPECT_EQ(control().counts().storages_alive, 0);
}

TEST_P(AsynchronousContract, CompletionsOutliveLaneAndDevice) {
  EnqueueCopy(lane());
  lane().Retain(std::shared_ptr<Storage>(std::move(storage_)));
  CompletionHandle handle = lane().RecordCompletion().value();
  CloseDevice();
  EXPECT_TRUE(handle.IsReady());
  EXPECT_THAT(handle.WaitUntil(absl::InfinitePast()), IsOk());
}

INSTANTIATE_TEST_SUITE_P(Devices, AsynchronousContract, FakeDevices(),
                         DeviceName);

}  // namespace
}  // namespace tensord
