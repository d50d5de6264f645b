#include "engine/pool/deadline_watch.h"

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tensord {
namespace {

// Holds deadlines; "answers" those that passed.
class Deadlines final : public WaitingRoom {
 public:
  explicit Deadlines(int count) : open_(count) {}

  void Add(absl::Time deadline) {
    absl::MutexLock lock(&mu_);
    deadlines_.insert(deadline);
  }
  bool Withdraw(Execution&) override { return false; }
  absl::Time AnswerExpired(absl::Time now) override {
    absl::MutexLock lock(&mu_);
    ++sweeps_;
    while (!deadlines_.empty() && *deadlines_.begin() <= now) {
      latest_ = std::max(latest_, now - *deadlines_.begin());
      deadlines_.erase(deadlines_.begin());
      open_.DecrementCount();
    }
    return deadlines_.empty() ? absl::InfiniteFuture() : *deadlines_.begin();
  }
  void Wait() { open_.Wait(); }
  int sweeps() {
    absl::MutexLock lock(&mu_);
    return sweeps_;
  }

 private:
  absl::BlockingCounter open_;
  absl::Mutex mu_;
  std::multiset<absl::Time> deadlines_;
  absl::Duration latest_;
  int sweeps_ = 0;
};

TEST(DeadlineWatchTest, AnswersEveryDeadlineThatItIsTold) {
  constexpr int kThreads = 8;
  constexpr int kEach = 200;
  Deadlines room(kThreads * kEach);
  DeadlineWatch watch;
  watch.Add(&room);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const absl::Time deadline =
            absl::Now() + absl::Microseconds((i * 7919 + t * 104729) % 3000);
        room.Add(deadline);
        watch.Tell(deadline);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  room.Wait();
}

TEST(DeadlineWatchTest, SleepsThroughDeadlinesThatAreLaterThanItsOwn) {
  Deadlines room(1);
  DeadlineWatch watch;
  watch.Add(&room);
  const absl::Time far = absl::Now() + absl::Hours(1);
  for (int i = 0; i < 1000; ++i) {
    room.Add(far + absl::Seconds(i));
    watch.Tell(far + absl::Seconds(i));
  }
  const absl::Time near = absl::Now() + absl::Milliseconds(1);
  room.Add(near);
  watch.Tell(near);
  room.Wait();
  EXPECT_EQ(room.sweeps(), 1);
}

TEST(DeadlineWatchTest, EndsWithDeadlinesOpen) {
  Deadlines room(1);
  DeadlineWatch watch;
  watch.Add(&room);
  room.Add(absl::Now() + absl::Hours(1));
  watch.Tell(absl::Now() + absl::Hours(1));
}

}  // namespace
}  // namespace tensord
