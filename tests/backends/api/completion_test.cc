#include "backends/api/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HostCompletionTest, IsNotReadyUntilItIsFinished) {
  HostCompletion completion;
  EXPECT_FALSE(completion.IsReady());
  EXPECT_THAT(completion.WaitUntil(absl::InfinitePast()),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("still running")));
  EXPECT_EQ(completion.device_timestamps(), std::nullopt);
  completion.Finish(absl::OkStatus(), DeviceTimestamps{5, 9});
  EXPECT_TRUE(completion.IsReady());
  EXPECT_THAT(completion.Wait(), IsOk());
  // Done is done, whatever the deadline.
  EXPECT_THAT(completion.WaitUntil(absl::InfinitePast()), IsOk());
  EXPECT_EQ(completion.device_timestamps()->end_ns, 9);
}

TEST(HostCompletionTest, TheFirstStatusStands) {
  HostCompletion completion;
  completion.Finish(absl::UnavailableError("lost"));
  completion.Finish(absl::OkStatus(), DeviceTimestamps{});
  EXPECT_THAT(completion.Wait(),
              StatusIs(absl::StatusCode::kUnavailable, "lost"));
  EXPECT_EQ(completion.device_timestamps(), std::nullopt);
}

TEST(HostCompletionTest, CallbacksRunInTheOrderInWhichTheyCame) {
  HostCompletion completion;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) {
    completion.OnReady(
        [&order, i](const absl::Status&) { order.push_back(i); });
  }
  EXPECT_THAT(order, ElementsAre());
  completion.Finish(absl::OkStatus());
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
  completion.OnReady([&order](const absl::Status&) { order.push_back(3); });
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
}

TEST(HostCompletionTest, ACallbackMayUseTheCompletionAndDropIt) {
  auto completion = std::make_shared<HostCompletion>();
  bool is_inner_called = false;
  HostCompletion& raw = *completion;
  raw.OnReady([&is_inner_called, completion](const absl::Status&) mutable {
    EXPECT_TRUE(completion->IsReady());
    completion->OnReady(
        [&is_inner_called](const absl::Status&) { is_inner_called = true; });
    completion.reset();
  });
  completion->Finish(absl::OkStatus());
  EXPECT_TRUE(is_inner_called);
}

TEST(HostCompletionTest, EveryThreadIsToldOnceAndSeesWhatCameBefore) {
  constexpr int kThreads = 32;
  for (int round = 0; round < 20; ++round) {
    auto completion = std::make_shared<HostCompletion>();
    int result = 0;  // plain: Finish() must publish it
    std::atomic<int> call_count{0};
    std::latch start(kThreads + 1);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        completion->OnReady([&](const absl::Status& status) {
          EXPECT_THAT(status, StatusIs(absl::StatusCode::kInternal, "bad"));
          EXPECT_EQ(result, 42);
          ++call_count;
        });
        if (i % 2 == 0) {
          EXPECT_THAT(completion->Wait(),
                      StatusIs(absl::StatusCode::kInternal, "bad"));
          EXPECT_EQ(result, 42);
        }
      });
    }
    std::thread finisher([&] {
      start.arrive_and_wait();
      result = 42;
      completion->Finish(absl::InternalError("bad"));
    });
    for (std::thread& thread : threads) thread.join();
    finisher.join();
    EXPECT_EQ(call_count, kThreads);
  }
}

TEST(CompletionHandleTest, ReadyAnswersAtOnce) {
  const CompletionHandle handle = CompletionHandle::Ready();
  EXPECT_EQ(handle.state(), CompletionHandle::State::kReady);
  EXPECT_EQ(handle.completion(), nullptr);
  EXPECT_TRUE(handle.IsReady());
  EXPECT_THAT(handle.WaitUntil(absl::InfinitePast()), IsOk());
  bool is_called = false;
  handle.OnReady(
      [&is_called](const absl::Status& status) { is_called = status.ok(); });
  EXPECT_TRUE(is_called);
}

TEST(CompletionHandleTest, PendingAnswersForItsCompletion) {
  auto completion = std::make_shared<HostCompletion>();
  const CompletionHandle handle = CompletionHandle::Pending(completion);
  EXPECT_EQ(handle.completion(), completion);
  EXPECT_FALSE(handle.IsReady());
  int call_count = 0;
  handle.OnReady([&call_count](const absl::Status&) { ++call_count; });
  completion->Finish(absl::UnavailableError("lost"));
  EXPECT_TRUE(handle.IsReady());
  EXPECT_EQ(call_count, 1);
  EXPECT_THAT(handle.WaitUntil(absl::InfiniteFuture()),
              StatusIs(absl::StatusCode::kUnavailable, "lost"));
}

// Nobody recorded an event, so no answer could be true.
TEST(CompletionHandleDeathTest, SubmittedAbortsWhenAskedForReadiness) {
  const CompletionHandle handle = CompletionHandle::Submitted();
  EXPECT_EQ(handle.state(), CompletionHandle::State::kSubmitted);
  constexpr char kMessage[] = "Submitted CompletionHandle was asked";
  EXPECT_DEATH(handle.IsReady(), kMessage);
  EXPECT_DEATH(handle.WaitUntil(absl::InfinitePast()).IgnoreError(), kMessage);
  EXPECT_DEATH(handle.OnReady([](const absl::Status&) {}), kMessage);
}

}  // namespace
}  // namespace tensord
