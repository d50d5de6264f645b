#include "server/rpc/active_calls.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace tensord {
namespace {

constexpr absl::Duration kQuiet = absl::Milliseconds(300);

TEST(ActiveCalls, WithoutCallsItIsQuietAfterSoLong) {
  ActiveCalls calls;
  const absl::Time start = absl::Now();
  calls.AwaitQuiet(kQuiet, absl::InfiniteFuture());
  EXPECT_GE(absl::Now() - start, kQuiet);
}

TEST(ActiveCalls, ACallThatEndedAtOnceBreaksTheQuietToo) {
  ActiveCalls calls;
  const absl::Time start = absl::Now();
  std::atomic<bool> is_over = false;
  std::thread client([&] {
    while (absl::Now() < start + 3 * kQuiet) {
      ActiveCalls::Token call(calls);
      absl::SleepFor(absl::Milliseconds(1));
    }
    is_over = true;
  });
  calls.AwaitQuiet(kQuiet, absl::InfiniteFuture());
  EXPECT_TRUE(is_over);
  EXPECT_GE(absl::Now() - start, 3 * kQuiet);
  client.join();
}

TEST(ActiveCalls, QuietIsNotWaitedForBeyondTheDeadline) {
  ActiveCalls calls;
  const absl::Time start = absl::Now();
  calls.AwaitQuiet(absl::Hours(1), start + kQuiet);
  EXPECT_GE(absl::Now() - start, kQuiet);
  calls.AwaitQuiet(absl::Hours(1), start);  // one that has passed
}

}  // namespace
}  // namespace tensord
