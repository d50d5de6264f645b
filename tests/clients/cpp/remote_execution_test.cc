#include "clients/cpp/remote_execution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "clients/cpp/tensors.h"
#include "tests/support/fake_daemon/fake_daemon.h"

namespace tensord {
namespace {

using testing::FakeDaemon;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class RemoteExecutionTest : public ::testing::Test {
 protected:
  RemoteExecutionTest() {
    daemon.graph.add_outputs()->set_name("y");
    *request.add_inputs()->mutable_tensor() = MakeTensor<float>({1}, {2.5f});
  }

  FakeDaemon daemon;
  v1::ExecuteRequest request;
  std::unique_ptr<Client> client =
      std::make_unique<Client>(*Client::Connect(daemon.address()));
};

TEST_F(RemoteExecutionTest, GivesItsOutputsToEveryWaiter) {
  daemon.runs.waits_for_finish = true;
  const auto run = *RemoteExecution::Start(*client, request);
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&] {
      const auto end = run.Wait();
      ASSERT_TRUE(end.ok()) << end.status();
      EXPECT_EQ(end->outputs(0).tensor().data(),
                request.inputs(0).tensor().data());
    });
  }
  daemon.runs.AwaitWaiters(4);
  EXPECT_EQ(run.Get()->state(), v1::EXECUTION_STATE_RUNNING);
  daemon.runs.Finish();
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(run.Get()->state(), v1::EXECUTION_STATE_SUCCEEDED);
}

TEST_F(RemoteExecutionTest, SaysAfterTheTimeoutThatItGoesOn) {
  daemon.runs.waits_for_finish = true;
  const auto run = *RemoteExecution::Start(*client, request);
  const auto end = run.Wait(absl::Milliseconds(20));
  EXPECT_EQ(end.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(end.status().message(), HasSubstr("goes on after 20ms"));
  daemon.runs.Finish();
  EXPECT_TRUE(run.Wait().ok());
}

TEST_F(RemoteExecutionTest, EndsAsCancelledWhenItWas) {
  daemon.runs.waits_for_finish = true;
  const auto run = *RemoteExecution::Start(*client, request);
  EXPECT_EQ(run.Cancel()->state(), v1::EXECUTION_STATE_CANCELLED);
  EXPECT_EQ(run.Wait().status(),
            absl::CancelledError("cancelled by the client"));
}

TEST_F(RemoteExecutionTest, FailsAsItsRunDid) {
  daemon.runs.waits_for_finish = true;
  const auto run = *RemoteExecution::Start(*client, request);
  daemon.knows_only_submitted = true;  // ...and this graph was not
  daemon.runs.Finish();
  EXPECT_EQ(run.Wait().status().code(), absl::StatusCode::kNotFound);
}

TEST_F(RemoteExecutionTest, IsFoundAgainByItsId) {
  const std::string id = RemoteExecution::Start(*client, request)->id();
  auto other = *Client::Connect(daemon.address());
  EXPECT_TRUE(RemoteExecution(other, id).Wait().ok());
  EXPECT_EQ(RemoteExecution(other, "x.unknown").Wait().status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(RemoteExecutionTest, SendsItsGraphIfNeedBe) {
  daemon.knows_only_submitted = true;
  const auto run = RemoteExecution::Start(
      *client, GraphSource(v1::GRAPH_FORMAT_ONNX, "model"), request);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_TRUE(run->Wait().ok());
  EXPECT_THAT(daemon.submissions(), SizeIs(1));
}

TEST_F(RemoteExecutionTest, CallsBackAtItsEnd) {
  daemon.runs.waits_for_finish = true;
  const auto run = *RemoteExecution::Start(*client, request);
  absl::Notification is_done;
  run.OnEnd([&](const absl::StatusOr<v1::WaitExecutionResponse>& end) {
    EXPECT_TRUE(end.ok()) << end.status();
    EXPECT_EQ(end->outputs_size(), 1);
    is_done.Notify();
  });
  daemon.runs.AwaitWaiters(1);
  EXPECT_FALSE(is_done.HasBeenNotified());
  daemon.runs.Finish();
  is_done.WaitForNotification();
}

TEST_F(RemoteExecutionTest, TellsItsCallbackThatTheClientEnds) {
  daemon.runs.waits_for_finish = true;
  const auto run = *RemoteExecution::Start(*client, request);
  absl::Status end;
  run.OnEnd([&](const absl::StatusOr<v1::WaitExecutionResponse>& response) {
    end = response.status();
  });
  daemon.runs.AwaitWaiters(1);
  client.reset();
  EXPECT_EQ(end.code(), absl::StatusCode::kCancelled);
}

TEST_F(RemoteExecutionTest, IsListed) {
  daemon.runs.waits_for_finish = true;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(RemoteExecution::Start(*client, request).ok());
  }
  ASSERT_TRUE(client->CancelExecution("fake.run3").ok());
  EXPECT_THAT(*client->ListExecutions(), SizeIs(5));
  v1::ListExecutionsRequest cancelled;
  cancelled.add_states(v1::EXECUTION_STATE_CANCELLED);
  EXPECT_THAT(*client->ListExecutions(cancelled), SizeIs(1));
}

TEST(ExecuteAsync, CallsBackWithTheAnswerOrTheError) {
  FakeDaemon daemon;
  auto client = *Client::Connect(daemon.address());
  for (const bool fails : {false, true}) {
    daemon.knows_only_submitted = fails;
    absl::Notification is_done;
    client.ExecuteAsync(
        std::make_shared<v1::ExecuteRequest>(),
        [&](const absl::StatusOr<v1::ExecuteResponse>& response) {
          EXPECT_EQ(response.ok(), !fails);
          is_done.Notify();
        });
    is_done.WaitForNotification();
  }
}

TEST(ListExecutions, PutsPagesTogether) {
  FakeDaemon daemon({.page_size = 2});
  auto client = *Client::Connect(daemon.address());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client.StartExecution({}).ok());
  EXPECT_THAT(*client.ListExecutions(), SizeIs(5));
}

}  // namespace
}  // namespace tensord
