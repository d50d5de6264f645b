#include "tools/tensordctl/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "absl/time/clock.h"
#include "google/rpc/error_details.pb.h"
#include "tests/support/fake_daemon/fake_daemon.h"

namespace tensord::ctl {
namespace {

using ::testing::ElementsAre;
using testing::Error;
using testing::FakeDaemon;
using ::testing::Pair;

class LoadTest : public ::testing::Test {
 protected:
  LoadTest() {
    clients.push_back(*Client::Connect(daemon.address()));
    for (const char* graph : {"a", "b"}) {
      auto request = std::make_shared<v1::ExecuteRequest>();
      request->set_graph_id(graph);
      requests.push_back(std::move(request));
    }
    daemon.execute = [this](const v1::ExecuteRequest&, v1::ExecuteResponse&) {
      const int open = ++open_count;
      int most = most_open.load();
      while (open > most && !most_open.compare_exchange_weak(most, open)) {
      }
      absl::SleepFor(run_time);
      --open_count;
    };
  }

  LoadResult Run(const LoadOptions& options) {
    return RunLoad(absl::MakeSpan(clients), requests, options,
                   [](const LoadProgress&) {});
  }

  FakeDaemon daemon;
  std::vector<Client> clients;
  std::vector<std::shared_ptr<const v1::ExecuteRequest>> requests;
  std::atomic<int> open_count{0}, most_open{0};
  absl::Duration run_time = absl::Milliseconds(2);
};

constexpr LoadOptions kShort = {.warm_up = absl::ZeroDuration(),
                                .duration = absl::Milliseconds(200)};

TEST_F(LoadTest, KeepsSoManyCallsOpenInAClosedLoop) {
  LoadOptions options = kShort;
  options.concurrency = 3;
  const LoadResult result = Run(options);
  EXPECT_LE(most_open, 3);
  EXPECT_GT(result.total.done_count, 0);
  EXPECT_EQ(result.total.error_count(), 0);
  EXPECT_GE(result.total.latency.min_ns(), 2'000'000);
  EXPECT_EQ(open_count, 0);
}

TEST_F(LoadTest, LetsRequestsTakeTurns) {
  const LoadResult result = Run(kShort);
  const int64_t a = result.by_request[0].latency.count();
  const int64_t b = result.by_request[1].latency.count();
  EXPECT_LE(std::abs(a - b), 1);
  EXPECT_EQ(a + b, result.total.latency.count());
}

TEST_F(LoadTest, LeavesOutWhatBeganInTheWarmUp) {
  LoadOptions options = kShort;
  options.warm_up = absl::Milliseconds(200);
  const LoadResult result = Run(options);
  EXPECT_LT(result.total.latency.count(),
            static_cast<int64_t>(daemon.executions().size()));
}

TEST_F(LoadTest, MakesCallsAtTheirTimesInAnOpenLoop) {
  LoadOptions options = kShort;
  options.rate = 100;
  const LoadResult result = Run(options);
  EXPECT_EQ(daemon.executions().size(), 20u);
  EXPECT_EQ(result.total.latency.count(), 20);
}

// One run at a time takes 50 ms, and one is due each 10 ms: the wait of those
// behind it is latency, although each was answered as soon as it was begun.
TEST_F(LoadTest, CountsTheLatencyOfAnOpenLoopFromWhenACallWasDue) {
  absl::Mutex one_at_a_time;
  daemon.execute = [&](const v1::ExecuteRequest&, v1::ExecuteResponse&) {
    absl::MutexLock lock(&one_at_a_time);
    absl::SleepFor(absl::Milliseconds(50));
  };
  LoadOptions options = kShort;
  options.rate = 100;
  const LoadResult result = Run(options);
  EXPECT_EQ(result.total.latency.count(), 20);
  // The last one waits for 19 others, of which four were done when it was due.
  EXPECT_GE(result.total.latency.max_ns(), 700'000'000);
}

TEST_F(LoadTest, CountsWhatItMayNotMake) {
  run_time = absl::Milliseconds(100);
  LoadOptions options = kShort;
  options.rate = 100;
  options.max_open = 2;
  const LoadResult result = Run(options);
  EXPECT_LE(most_open, 2);
  EXPECT_GT(result.not_made_count, 0);
  EXPECT_EQ(result.total.latency.count() + result.not_made_count, 20);
}

TEST_F(LoadTest, CountsErrorsByTheirCode) {
  daemon.failure = Error(8, "full");
  const LoadResult result = Run(kShort);
  EXPECT_EQ(result.total.latency.count(), 0);
  EXPECT_THAT(result.total.errors,
              ElementsAre(Pair("RESOURCE_EXHAUSTED", ::testing::Gt(0))));
  // It makes a pause after each, so there are not thousands.
  EXPECT_LT(result.total.error_count(), 100);
  EXPECT_EQ(result.refused_without_delay_count, result.total.error_count());
  EXPECT_EQ(result.total.first_error.message(), "full");
}

TEST_F(LoadTest, SeesTheDelayOfARefusal) {
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(1);
  daemon.failure = Error(8, "full", retry);
  const LoadResult result = Run(kShort);
  EXPECT_GT(result.total.error_count(), 0);
  EXPECT_EQ(result.refused_without_delay_count, 0);
}

TEST_F(LoadTest, RunsByStreams) {
  clients.push_back(*Client::Connect(daemon.address()));
  for (const double rate : {0.0, 100.0}) {
    LoadOptions options = kShort;
    options.uses_streams = true;
    options.concurrency = 4;
    options.rate = rate;
    const LoadResult result = Run(options);
    EXPECT_GT(result.total.done_count, 0) << rate;
    EXPECT_EQ(result.total.error_count(), 0) << result.total.first_error;
  }
}

TEST_F(LoadTest, SurvivesAStreamThatBreaks) {
  daemon.runs.break_stream_after = 3;
  LoadOptions options = kShort;
  options.uses_streams = true;
  const LoadResult result = Run(options);
  EXPECT_GT(result.total.error_count(), 0);
}

TEST_F(LoadTest, TellsHowFarItIs) {
  std::vector<double> shares;
  RunLoad(
      absl::MakeSpan(clients), requests,
      {.warm_up = absl::Milliseconds(200), .duration = absl::Milliseconds(500)},
      [&](const LoadProgress& progress) {
        shares.push_back(absl::FDivDuration(progress.elapsed, progress.whole));
      });
  ASSERT_GE(shares.size(), 2u);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_LE(shares.back(), 1);
}

}  // namespace
}  // namespace tensord::ctl
