// What every lane promises: copies, order, completions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tests/support/backend_test.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

class LaneContract : public BackendTest {};

TEST_P(LaneContract, BytesComeBackAsTheyWent) {
  for (size_t size : {0, 1, 17, 64, 4097, 1 << 20}) {
    const std::vector<std::byte> bytes = PatternBytes(size);
    std::unique_ptr<Storage> storage = Upload(lane(), bytes);
    EXPECT_EQ(Download(lane(), WholeOf(*storage)), bytes) << size;
  }
}

TEST_P(LaneContract, AViewIsARangeOfItsStorage) {
  std::unique_ptr<Storage> storage =
      Upload(lane(), std::vector<std::byte>(100, std::byte{1}));
  const std::vector<std::byte> part(10, std::byte{2});
  ASSERT_THAT(lane().CopyToDevice(part, {storage.get(), 40, 10}), IsOk());
  EXPECT_EQ(Download(lane(), {storage.get(), 40, 10}), part);
  EXPECT_EQ(Download(lane(), {storage.get(), 39, 1})[0], std::byte{1});
  EXPECT_EQ(Download(lane(), {storage.get(), 50, 1})[0], std::byte{1});
}

TEST_P(LaneContract, CopiesWithinTheDevice) {
  const std::vector<std::byte> bytes = PatternBytes(1000);
  std::unique_ptr<Storage> source = Upload(lane(), bytes);
  std::unique_ptr<Storage> destination = Allocate(1000);
  ASSERT_THAT(lane().Copy(WholeOf(*source), WholeOf(*destination)), IsOk());
  EXPECT_EQ(Download(lane(), WholeOf(*destination)), bytes);
}

TEST_P(LaneContract, RefusesCopiesOfUnequalSizes) {
  std::unique_ptr<Storage> small = Allocate(8);
  std::unique_ptr<Storage> large = Allocate(16);
  std::vector<std::byte> host(16);
  const auto is_refused = [](const char* numbers) {
    return StatusIs(absl::StatusCode::kInternal, HasSubstr(numbers));
  };
  EXPECT_THAT(lane().CopyToDevice(host, WholeOf(*small)),
              is_refused("16 bytes to 8 bytes"));
  EXPECT_THAT(lane().CopyToHost(WholeOf(*small), absl::MakeSpan(host)),
              is_refused("16 bytes to 8 bytes"));
  EXPECT_THAT(lane().Copy(WholeOf(*small), WholeOf(*large)),
              is_refused("8 bytes to 16 bytes"));
  Finish(lane());  // the lane itself is well
}

TEST_P(LaneContract, RefusesViewsThatAreNotRangesOfItsOwnStorages) {
  std::unique_ptr<Storage> storage = Allocate(16);
  std::vector<std::byte> host(8);
  const auto copy = [&](StorageView view) {
    return lane().CopyToDevice(host, view);
  };
  EXPECT_THAT(copy({storage.get(), 9, 8}),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("8 bytes at offset 9 of a storage of 16")));
  EXPECT_THAT(copy({storage.get(), UINT64_MAX, 8}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("at offset")));
  EXPECT_THAT(copy({}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("absent view")));

  std::unique_ptr<Device> other = backend().OpenDevice(0).value();
  if (other->info().id != device().info().id) {
    std::unique_ptr<Storage> elsewhere = other->Allocate(8).value();
    EXPECT_THAT(copy({elsewhere.get(), 0, 8}),
                StatusIs(absl::StatusCode::kInternal,
                         HasSubstr(other->info().id.ToString())));
  }
}

TEST_P(LaneContract, WorkRunsInOrder) {
  std::unique_ptr<Storage> a = Allocate(64);
  std::unique_ptr<Storage> b = Allocate(64);
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> received(
      50, std::vector<std::byte>(64, std::byte{0}));
  for (int i = 0; i < 50; ++i) sent.push_back(PatternBytes(64, i));
  for (int i = 0; i < 50; ++i) {
    ASSERT_THAT(lane().CopyToDevice(sent[i], WholeOf(*a)), IsOk());
    ASSERT_THAT(lane().Copy(WholeOf(*a), WholeOf(*b)), IsOk());
    ASSERT_THAT(lane().CopyToHost(WholeOf(*b), absl::MakeSpan(received[i])),
                IsOk());
  }
  Finish(lane());
  EXPECT_EQ(received, sent);
}

TEST_P(LaneContract, RecordedHandlesAreReadyOrPendingAndNeverSubmitted) {
  std::unique_ptr<Storage> storage = Upload(lane(), PatternBytes(64));
  CompletionHandle handle = lane().RecordCompletion().value();
  EXPECT_EQ(lane().is_synchronous(), is_synchronous());
  EXPECT_EQ(handle.state(), is_synchronous()
                                ? CompletionHandle::State::kReady
                                : CompletionHandle::State::kPending);
  EXPECT_EQ(handle.completion() == nullptr, is_synchronous());
  EXPECT_THAT(handle.WaitUntil(absl::InfiniteFuture()), IsOk());
  EXPECT_TRUE(handle.IsReady());
}

TEST_P(LaneContract, ACallbackOnAFinishedHandleRunsInline) {
  CompletionHandle handle = lane().RecordCompletion().value();
  ASSERT_THAT(handle.WaitUntil(absl::InfiniteFuture()), IsOk());
  std::optional<std::thread::id> thread;
  handle.OnReady([&thread](const absl::Status& status) {
    EXPECT_THAT(status, IsOk());
    thread = std::this_thread::get_id();
  });
  EXPECT_EQ(thread, std::this_thread::get_id());
}

TEST_P(LaneContract, EveryWaiterIsToldOnce) {
  constexpr int kWaiters = 8;
  std::unique_ptr<Storage> storage = Allocate(1 << 16);
  const std::vector<std::byte> bytes = PatternBytes(1 << 16);
  ASSERT_THAT(lane().CopyToDevice(bytes, WholeOf(*storage)), IsOk());
  const CompletionHandle handle = lane().RecordCompletion().value();
  std::latch called(kWaiters);
  std::atomic<int> call_count{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < kWaiters; ++i) {
    waiters.emplace_back([&] {
      handle.OnReady([&](const absl::Status& status) {
        EXPECT_THAT(status, IsOk());
        ++call_count;
        called.count_down();
      });
      EXPECT_THAT(handle.WaitUntil(absl::InfiniteFuture()), IsOk());
    });
  }
  for (std::thread& waiter : waiters) waiter.join();
  called.wait();
  EXPECT_EQ(call_count, kWaiters);
}

TEST_P(LaneContract, DroppingAHandleDoesNotStopTheWork) {
  std::unique_ptr<Storage> storage = Allocate(4096);
  const std::vector<std::byte> bytes = PatternBytes(4096);
  for (int i = 0; i < 20; ++i) {
    ASSERT_THAT(lane().CopyToDevice(bytes, WholeOf(*storage)), IsOk());
    ASSERT_THAT(lane().RecordCompletion(), IsOk());  // dropped here
  }
  EXPECT_EQ(Download(lane(), WholeOf(*storage)), bytes);
}

TEST_P(LaneContract, ADrainedLaneHasDoneItsWork) {
  std::unique_ptr<Storage> storage = Upload(lane(), PatternBytes(4096));
  std::vector<std::byte> host(4096);
  ASSERT_THAT(lane().CopyToHost(WholeOf(*storage), absl::MakeSpan(host)),
              IsOk());
  EXPECT_THAT(lane().Drain(absl::InfiniteFuture()), IsOk());
  EXPECT_EQ(host, PatternBytes(4096));
  // An empty lane is drained whatever the deadline.
  EXPECT_THAT(lane().Drain(absl::InfinitePast()), IsOk());
}

TEST_P(LaneContract, TheDestructorWaitsForWorkInFlight) {
  std::unique_ptr<Storage> storage = Upload(lane(), PatternBytes(4096));
  std::vector<std::byte> host(4096);
  std::unique_ptr<Lane> short_lived = device().CreateLane().value();
  for (int i = 0; i < 20; ++i) {
    ASSERT_THAT(
        short_lived->CopyToHost(WholeOf(*storage), absl::MakeSpan(host)),
        IsOk());
  }
  short_lived.reset();
  EXPECT_EQ(host, PatternBytes(4096));
}

TEST_P(LaneContract, RetainedOwnersGoWithTheWork) {
  auto owner = std::make_shared<std::vector<std::byte>>(PatternBytes(4096));
  std::weak_ptr<std::vector<std::byte>> watch = owner;
  std::unique_ptr<Storage> storage = Allocate(4096);
  std::unique_ptr<Lane> own_lane = device().CreateLane().value();
  ASSERT_THAT(own_lane->CopyToDevice(*owner, WholeOf(*storage)), IsOk());
  // The lane has the only reference from here on, and the copy's source with
  // it.
  own_lane->Retain(std::move(owner));
  EXPECT_EQ(Download(*own_lane, WholeOf(*storage)), PatternBytes(4096));
  own_lane.reset();
  EXPECT_TRUE(watch.expired());
}

TEST_P(LaneContract, TwoLanesWorkAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([this, i] {
      std::unique_ptr<Lane> own_lane = device().CreateLane().value();
      const std::vector<std::byte> bytes = PatternBytes(5000, i);
      std::unique_ptr<Storage> storage = Upload(*own_lane, bytes);
      for (int round = 0; round < 100; ++round) {
        EXPECT_EQ(Download(*own_lane, WholeOf(*storage)), bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(LaneContract, ManyThreadsShareTheDevice) {
  constexpr int kThreads = 32;
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, &start, i] {
      start.arrive_and_wait();
      for (int round = 0; round < 5; ++round) {
        std::unique_ptr<Lane> own_lane = device().CreateLane().value();
        const std::vector<std::byte> bytes = PatternBytes(1000 + i, round);
        std::unique_ptr<Storage> storage = Upload(*own_lane, bytes);
        EXPECT_EQ(Download(*own_lane, WholeOf(*storage)), bytes);
        EXPECT_THAT(device().health(), IsOk());
        EXPECT_GE(device().allocated_bytes(), bytes.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(device().allocated_bytes(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Devices, LaneContract, AvailableDevices(), DeviceName);

}  // namespace
}  // namespace tensord
