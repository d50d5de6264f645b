// Abseil's synchronisation as the thread sanitizer sees it: every test here is
// a program without a race, so a report is a hole in cmake/tsan_abseil.cc. The
// last one races on purpose and must be caught.

#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "tests/support/sanitizers.h"

namespace tensord {
namespace {

constexpr int kThreadCount = 4;
constexpr int kRoundCount = 1000;

// Runs `body(thread_index)` on every thread and joins them.
template <typename Body>
void OnThreads(Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreadCount; ++i) {
    threads.emplace_back([&body, i] { body(i); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(TsanAbseil, AMutexOrdersItsOwners) {
  absl::Mutex mu;
  int count = 0;
  OnThreads([&](int) {
    for (int i = 0; i < kRoundCount; ++i) {
      absl::MutexLock lock(&mu);
      ++count;
    }
  });
  EXPECT_EQ(count, kThreadCount * kRoundCount);
}

TEST(TsanAbseil, ReadersAreOrderedAfterTheWriter) {
  absl::Mutex mu;
  int value = 0;
  OnThreads([&](int thread) {
    for (int i = 0; i < kRoundCount; ++i) {
      if (thread == 0) {
        absl::WriterMutexLock lock(&mu);
        ++value;
      } else {
        absl::ReaderMutexLock lock(&mu);
        EXPECT_LE(value, kRoundCount);
      }
    }
  });
}

TEST(TsanAbseil, TryLockAndEarlyReleaseAreOrdered) {
  absl::Mutex mu;
  int count = 0;
  OnThreads([&](int) {
    for (int i = 0; i < kRoundCount; ++i) {
      if (mu.TryLock()) {
        ++count;
        mu.Unlock();
      }
      absl::ReleasableMutexLock lock(&mu);
      ++count;
      lock.Release();
    }
  });
  EXPECT_GE(count, kThreadCount * kRoundCount);
}

TEST(TsanAbseil, AConditionVariableHandsTheMutexOver) {
  absl::Mutex mu;
  absl::CondVar cv;
  int turn = 0;
  OnThreads([&](int thread) {
    for (int i = 0; i < kRoundCount / 10; ++i) {
      absl::MutexLock lock(&mu);
      while (turn % kThreadCount != thread) {
        cv.WaitWithDeadline(&mu, absl::InfiniteFuture());
      }
      ++turn;
      cv.SignalAll();
    }
  });
  EXPECT_EQ(turn, kThreadCount * (kRoundCount / 10));
}

TEST(TsanAbseil, AwaitAndLockWhenHandTheMutexOver) {
  absl::Mutex mu;
  int turn = 0;
  OnThreads([&](int thread) {
    const auto is_mine = [&] { return turn % kThreadCount == thread; };
    for (int i = 0; i < kRoundCount / 10; ++i) {
      if (i % 2 == 0) {
        absl::MutexLock lock(&mu);
        mu.Await(absl::Condition(&is_mine));
        ++turn;
      } else {
        mu.LockWhen(absl::Condition(&is_mine));
        ++turn;
        mu.Unlock();
      }
    }
  });
  EXPECT_EQ(turn, kThreadCount * (kRoundCount / 10));
}

TEST(TsanAbseil, ANotificationOrdersWaitersAndPollers) {
  for (int i = 0; i < kRoundCount / 10; ++i) {
    absl::Notification done;
    int value = 0;
    OnThreads([&](int thread) {
      if (thread == 0) {
        value = 7;
        done.Notify();
      } else if (thread == 1) {
        done.WaitForNotification();
        EXPECT_EQ(value, 7);
      } else if (thread == 2) {
        if (done.WaitForNotificationWithTimeout(absl::Seconds(60))) {
          EXPECT_EQ(value, 7);
        }
      } else if (done.HasBeenNotified()) {
        EXPECT_EQ(value, 7);
      }
    });
  }
}

TEST(TsanAbseil, ABlockingCounterOrdersItsWaiter) {
  absl::BlockingCounter counter(kThreadCount - 1);
  std::vector<int> values(kThreadCount, 0);
  OnThreads([&](int thread) {
    if (thread == 0) {
      counter.Wait();
      EXPECT_EQ(values[1] + values[2] + values[3], 6);
    } else {
      values[thread] = thread;
      counter.DecrementCount();
    }
  });
}

TEST(TsanAbseil, TheLastOwnerOfAStatusFreesIt) {
  for (int i = 0; i < kRoundCount / 10; ++i) {
    std::vector<absl::Status> copies(
        kThreadCount, absl::InternalError("too long for a small string"));
    OnThreads([&](int thread) {
      EXPECT_EQ(copies[thread].message().size(), 27u);
      copies[thread] = absl::OkStatus();
    });
  }
}

#if TENSORD_THREAD_SANITIZER
TEST(TsanAbseilDeathTest, ARaceBesideTheMutexIsReported) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto race = [] {
    absl::Mutex mu;
    int count = 0;
    OnThreads([&](int) {
      for (int i = 0; i < kRoundCount; ++i) {
        { absl::MutexLock lock(&mu); }
        ++count;
      }
    });
    std::exit(count > 0 ? 0 : 1);
  };
  // 66 is the sanitizer's own exit status after a report.
  EXPECT_EXIT(race(), testing::ExitedWithCode(66), "data race");
}
#endif

}  // namespace
}  // namespace tensord
