#include "clients/cpp/retry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "clients/cpp/client.h"
#include "clients/cpp/error_details.h"
#include "clients/cpp/tensors.h"
#include "google/rpc/error_details.pb.h"
#include "tests/support/fake_daemon/fake_daemon.h"

namespace tensord {
namespace {

using testing::Error;
using testing::FakeDaemon;
using ::testing::SizeIs;

constexpr int kExhausted = 8;
constexpr int kUnavailable = 14;

google::rpc::Status FullQueue(absl::Duration delay) {
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(delay)));
  return Error(kExhausted, "the queue is full", retry);
}

google::rpc::Status Draining() {
  google::rpc::ErrorInfo info;
  info.set_domain("tensord");
  info.set_reason("DRAINING");
  return Error(kUnavailable, "draining", info);
}

absl::Status Broken() { return absl::UnavailableError("connection reset"); }

ClientOptions Quick() {
  return {.retry = {.first_pause = absl::Milliseconds(1)}};
}

TEST(RetrySchedule, DoublesItsPausesUpToTheLongest) {
  RetrySchedule schedule({.max_attempts = 100,
                          .first_pause = absl::Milliseconds(100),
                          .longest_pause = absl::Milliseconds(400)},
                         absl::InfiniteFuture());
  for (const int64_t whole_ms : {100, 200, 400, 400, 400}) {
    const auto pause = schedule.PauseAfter(Broken(), Repeat::kAlways);
    ASSERT_TRUE(pause.has_value());
    EXPECT_GE(*pause, absl::Milliseconds(whole_ms) / 2);
    EXPECT_LE(*pause, absl::Milliseconds(whole_ms));
  }
}

TEST(RetrySchedule, DoesNotPauseForTwoAtTheSameTime) {
  // Equal pauses would bring back at once whoever was refused at once. By
  // chance two of these are equal once in 10^7 runs.
  RetrySchedule one({}, absl::InfiniteFuture()),
      other({}, absl::InfiniteFuture());
  EXPECT_NE(one.PauseAfter(Broken(), Repeat::kAlways),
            other.PauseAfter(Broken(), Repeat::kAlways));
}

TEST(RetrySchedule, EndsAfterItsAttempts) {
  RetrySchedule schedule({.max_attempts = 3}, absl::InfiniteFuture());
  EXPECT_TRUE(schedule.PauseAfter(Broken(), Repeat::kAlways).has_value());
  EXPECT_TRUE(schedule.PauseAfter(Broken(), Repeat::kAlways).has_value());
  EXPECT_FALSE(schedule.PauseAfter(Broken(), Repeat::kAlways).has_value());
  schedule.Reset();
  EXPECT_TRUE(schedule.PauseAfter(Broken(), Repeat::kAlways).has_value());
}

TEST(RetrySchedule, DoesNotPausePastTheDeadline) {
  RetrySchedule schedule({.first_pause = absl::Hours(1)},
                         absl::Now() + absl::Minutes(1));
  EXPECT_FALSE(schedule.PauseAfter(Broken(), Repeat::kAlways).has_value());
}

TEST(RetrySchedule, WaitsAtLeastAsLongAsItIsTold) {
  FakeDaemon daemon;
  daemon.failure = FullQueue(absl::Milliseconds(700));
  auto client = *Client::Connect(daemon.address(), Quick());
  const absl::Status refused = client.Execute({}, {.max_attempts = 1}).status();
  RetrySchedule schedule({.first_pause = absl::Milliseconds(1)},
                         absl::InfiniteFuture());
  const auto pause = schedule.PauseAfter(refused, Repeat::kIfRefused);
  ASSERT_TRUE(pause.has_value());
  EXPECT_GE(*pause, absl::Milliseconds(700));
  EXPECT_LE(*pause, absl::Milliseconds(701));
}

TEST(MayBeRepeated, DependsOnWhatTheErrorLeavesOpen) {
  const auto status_of = [](const google::rpc::Status& status) {
    return StatusFromProto(status);
  };
  EXPECT_TRUE(MayBeRepeated(status_of(Draining()), Repeat::kIfRefused));
  EXPECT_TRUE(MayBeRepeated(status_of(FullQueue(absl::Milliseconds(1))),
                            Repeat::kIfRefused));
  EXPECT_TRUE(MayBeRepeated(Broken(), Repeat::kAlways));
  EXPECT_FALSE(MayBeRepeated(Broken(), Repeat::kIfRefused));
  for (const int final_code : {1, 2, 3, 4, 5, 9, 12, 13, kExhausted}) {
    EXPECT_FALSE(
        MayBeRepeated(status_of(Error(final_code, "no")), Repeat::kAlways))
        << final_code;
  }
}

TEST(Retries, CallAgainUntilTheDaemonAnswers) {
  FakeDaemon daemon;
  daemon.failure = Error(kUnavailable, "starting");
  daemon.failing_calls = 3;
  auto client = *Client::Connect(daemon.address(), Quick());
  EXPECT_TRUE(client.ListDevices().ok());
  daemon.failing_calls = 4;
  EXPECT_EQ(client.ListDevices().status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(Retries, AreAsManyAsTheCallSays) {
  FakeDaemon daemon;
  daemon.failure = Error(kUnavailable, "starting");
  daemon.failing_calls = 1;
  auto client = *Client::Connect(daemon.address(), Quick());
  EXPECT_FALSE(client.ListDevices({}, {.max_attempts = 1}).ok());
  EXPECT_TRUE(client.ListDevices({}, {.max_attempts = 1}).ok());
}

TEST(Retries, LeaveARunAloneThatMayHaveBegun) {
  FakeDaemon daemon;
  daemon.failure = Error(kUnavailable, "connection reset");
  daemon.failing_calls = 1;
  auto client = *Client::Connect(daemon.address(), Quick());
  v1::ExecuteRequest request;
  request.add_inputs()->set_tensor_id("t");
  request.mutable_inputs(0)->set_donate(true);
  EXPECT_FALSE(client.Execute(request).ok());
  EXPECT_TRUE(client.Execute(request).ok());

  daemon.failing_calls = 1;
  EXPECT_FALSE(client.StartExecution({}).ok());
}

TEST(Retries, RepeatARunThatWasRefused) {
  FakeDaemon daemon;
  auto client = *Client::Connect(daemon.address(), Quick());
  v1::ExecuteRequest request;
  request.add_outputs()->set_keep_on_device(true);
  for (const google::rpc::Status& refusal :
       {Draining(), FullQueue(absl::Milliseconds(1))}) {
    daemon.failure = refusal;
    daemon.failing_calls = 1;
    EXPECT_TRUE(client.Execute(request).ok());
    daemon.failing_calls = 1;
    EXPECT_TRUE(client.StartExecution(request).ok());
  }
}

TEST(Retries, KnowWhichRunsAreSafe) {
  v1::ExecuteRequest request;
  request.add_inputs()->mutable_tensor();
  EXPECT_TRUE(IsSafeToRepeat(request));
  request.add_outputs()->set_keep_on_device(true);
  EXPECT_FALSE(IsSafeToRepeat(request));
  // Over another connection a request_id alone is another run's.
  request.mutable_options()->set_request_id("r");
  EXPECT_FALSE(IsSafeToRepeat(request));
  request.mutable_options()->set_session_id("s");
  EXPECT_TRUE(IsSafeToRepeat(request));
}

TEST(Retries, EndWithTheTimeoutOfTheWholeCall) {
  FakeDaemon daemon;
  daemon.failure = Error(kUnavailable, "starting");
  auto client = *Client::Connect(
      daemon.address(),
      {.retry = {.max_attempts = 1000, .first_pause = absl::Milliseconds(5)}});
  const absl::Time begin = absl::Now();
  EXPECT_EQ(client.ListDevices({}, {.timeout = absl::Milliseconds(100)})
                .status()
                .code(),
            absl::StatusCode::kUnavailable);
  EXPECT_LT(absl::Now() - begin, absl::Seconds(10));
}

TEST(Resubmission, SendsAGraphThatTheDaemonForgot) {
  FakeDaemon daemon;
  daemon.knows_only_submitted = true;
  auto client = *Client::Connect(daemon.address());
  const GraphSource graph(v1::GRAPH_FORMAT_ONNX, "model");
  EXPECT_TRUE(client.Execute(graph, {}).ok());
  EXPECT_TRUE(client.Execute(graph, {}).ok());
  EXPECT_THAT(daemon.submissions(), SizeIs(1));
  daemon.ForgetGraphs();
  EXPECT_TRUE(client.Execute(graph, {}).ok());
  EXPECT_THAT(daemon.submissions(), SizeIs(2));
  EXPECT_EQ(daemon.submissions()[1].bytes, "model");
}

TEST(Resubmission, HappensOnce) {
  FakeDaemon daemon;
  daemon.knows_only_submitted = true;
  daemon.forgets_at_once = true;
  auto client = *Client::Connect(daemon.address());
  EXPECT_EQ(client.Execute(GraphSource(v1::GRAPH_FORMAT_ONNX, "m"), {})
                .status()
                .code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(daemon.submissions(), SizeIs(1));
}

TEST(Resubmission, IsNotForWhatElseIsMissing) {
  FakeDaemon daemon;
  google::rpc::ResourceInfo info;
  info.set_resource_type("session");
  daemon.failure = Error(5, "no such session", info);
  auto client = *Client::Connect(daemon.address());
  EXPECT_EQ(client.Execute(GraphSource(v1::GRAPH_FORMAT_ONNX, "m"), {})
                .status()
                .code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(daemon.submissions(), SizeIs(0));
}

}  // namespace
}  // namespace tensord
