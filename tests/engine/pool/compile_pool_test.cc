#include "engine/pool/compile_pool.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "absl/synchronization/notification.h"
#include "engine/limit_exceeded.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

TEST(CompilePoolTest, RunsTasksInOrderAtTheLowestPriority) {
  absl::Notification done;
  std::vector<int> order;
  int nice_value = 0;
  CompilePool pool(1, 16);
  for (int i = 0; i < 4; ++i) {
    pool.Submit([&, i](const absl::Status& admission) {
      EXPECT_THAT(admission, IsOk());
      order.push_back(i);
      if (i < 3) return;
      nice_value = getpriority(PRIO_PROCESS, syscall(SYS_gettid));
      done.Notify();
    });
  }
  done.WaitForNotification();
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(nice_value, 19);
}

TEST(CompilePoolTest, RefusesWhatItsQueueDoesNotHold) {
  absl::Notification begun, go;
  CompilePool pool(1, 2);
  pool.Submit([&](const absl::Status&) {
    begun.Notify();
    go.WaitForNotification();
  });
  begun.WaitForNotification();
  pool.Submit([](const absl::Status&) {});
  pool.Submit([](const absl::Status&) {});
  absl::Status refusal;
  pool.Submit([&](const absl::Status& admission) { refusal = admission; });
  EXPECT_THAT(refusal, StatusIs(absl::StatusCode::kResourceExhausted,
                                HasSubstr("max_queued_compilations is 2")));
  EXPECT_EQ(LimitDetails::FromStatus(refusal)->requested, 3);
  go.Notify();
}

TEST(CompilePoolTest, CallsEveryTaskOnceWhenItEnds) {
  std::atomic<int> run{0}, refused{0};
  absl::Notification begun, go;
  {
    CompilePool pool(1, 16);
    pool.Submit([&](const absl::Status&) {
      begun.Notify();
      go.WaitForNotification();
      ++run;
    });
    begun.WaitForNotification();
    for (int i = 0; i < 5; ++i) {
      pool.Submit([&](const absl::Status& admission) {
        EXPECT_EQ(admission.code(), absl::StatusCode::kUnavailable);
        ++refused;
      });
    }
    pool.Close();
    EXPECT_EQ(refused, 5);
    pool.Submit([&](const absl::Status& admission) {
      EXPECT_EQ(admission.code(), absl::StatusCode::kUnavailable);
      ++refused;
    });
    EXPECT_EQ(refused, 6);
    go.Notify();
  }
  EXPECT_EQ(run, 1);
}

}  // namespace
}  // namespace tensord
