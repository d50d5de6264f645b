// Calls whose run takes as long as the test wants: cancelling, queues,
// deadlines, draining, and a device that is lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "google/rpc/error_details.pb.h"
#include "grpc/health/v1/health.pb.h"
#include "tensord/v1/device_service.pb.h"
#include "tensord/v1/errors.pb.h"
#include "tensord/v1/session_service.pb.h"
#include "tests/server/support/server_test.h"
#include "tests/support/fake_backend.h"

namespace tensord {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;
using ::testing::HasSubstr;

constexpr char kExecute[] = "/tensord.v1.ExecutionService/Execute";

class SlowDeviceTest : public ServerTest {
 protected:
  SlowDeviceTest() : fake_(BackendId::kVulkan, {.max_lanes = 1}) {
    config_.device_names = {"vulkan:0"};
    config_.engine.inline_limit = absl::ZeroDuration();
  }
  std::vector<Backend*> MoreBackends() override { return {&fake_}; }

  void SetUp() override {
    StartServer();
    graph_id_ = Submit(ReluGraph());
    v1::ExecuteResponse response;  // compiles it
    ASSERT_TRUE(Call(kExecute, IdentityRequest(graph_id_, ""), response).ok());
    control().SetExecuteHook([this](const FakeLaunchInfo&) {
      if (!started_.HasBeenNotified()) started_.Notify();
      release_.WaitForNotification();
    });
  }
  void TearDown() override {
    Release();
    for (auto& client : clients_) client->thread.join();
    StopServer();
  }

  FakeControl& control() { return fake_.control(0); }
  void Release() {
    if (!release_.HasBeenNotified()) release_.Notify();
  }

  // A call on a thread of its own.
  struct Client {
    grpc::ClientContext context;
    grpc::Status status;
    std::thread thread;
    void Join() {
      thread.join();
      thread = std::thread([] {});
    }
  };
  Client& StartCall(absl::Duration timeout = absl::InfiniteDuration()) {
    Client& client = *clients_.emplace_back(std::make_unique<Client>());
    if (timeout < absl::InfiniteDuration()) {
      client.context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
    }
    client.thread = std::thread([this, &client] {
      v1::ExecuteResponse response;
      client.status = Call(kExecute, IdentityRequest(graph_id_, ""), response,
                           &client.context);
    });
    return client;
  }
  void AwaitQueueDepth(int64_t depth) {
    while (engine_->Devices()[0].queue_depth != depth)
      std::this_thread::yield();
  }
  void AwaitNoCalls() {
    EXPECT_TRUE(active_calls_.AwaitNone(absl::Now() + absl::Seconds(30)));
  }
  // tensord_executions_total by state.
  std::map<std::string, double> Outcomes() {
    metrics::SeriesBudget budget(1000);
    metrics::Page page(budget);
    executions_.Collect(page);
    std::map<std::string, double> outcomes;
    for (const auto& family : std::move(page).Finish()) {
      for (const auto& metric : family.metric) {
        outcomes[metric.label[0].value] = metric.counter.value;
      }
    }
    return outcomes;
  }

  std::string NewSession() {
    v1::Session session;
    EXPECT_TRUE(Call("/tensord.v1.SessionService/CreateSession",
                     v1::CreateSessionRequest(), session)
                    .ok());
    return session.session_id();
  }

  FakeBackend fake_;
  std::string graph_id_;
  absl::Notification started_, release_;
  std::vector<std::unique_ptr<Client>> clients_;
};

TEST_F(SlowDeviceTest, AClientThatVanishesWhileItsRunWaitsIsForgottenAtOnce) {
  StartCall();
  started_.WaitForNotification();
  Client& waiting = StartCall();
  AwaitQueueDepth(1);
  waiting.context.TryCancel();
  waiting.Join();
  EXPECT_EQ(waiting.status.error_code(), grpc::StatusCode::CANCELLED);
  AwaitQueueDepth(0);
}

TEST_F(SlowDeviceTest, AClientThatVanishesInTheMiddleOfARunLeavesNothing) {
  Client& client = StartCall();
  started_.WaitForNotification();
  client.context.TryCancel();
  client.Join();
  EXPECT_EQ(client.status.error_code(), grpc::StatusCode::CANCELLED);
  Release();
  AwaitNoCalls();
  v1::ExecuteResponse response;
  EXPECT_TRUE(Call(kExecute, IdentityRequest(graph_id_, ""), response).ok());
  channel_.reset();
  server_.reset();
  EXPECT_EQ(engine_->buffers().loaned_bytes(), 0u);
}

TEST_F(SlowDeviceTest, ADeadlineThatPassesInTheQueueEndsTheRun) {
  StartCall();
  started_.WaitForNotification();
  Client& late = StartCall(absl::Milliseconds(50));
  late.Join();
  EXPECT_EQ(late.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  AwaitQueueDepth(0);
  Release();
  AwaitNoCalls();
  // Whichever was first: the deadline in the queue, or gRPC's own cancellation.
  const auto outcomes = Outcomes();
  EXPECT_EQ(outcomes.at("expired") + outcomes.at("cancelled"), 1);
  EXPECT_EQ(outcomes.at("queue_timeout"), outcomes.at("expired"));
}

TEST_F(SlowDeviceTest, AFullQueueSaysWhichAndToTryAgain) {
  Release();
  for (auto& client : clients_) client->Join();
  StopServer();
  config_.engine.max_queue_length = 1;
  StartServer();
  graph_id_ = Submit(ReluGraph());
  v1::ExecuteResponse response;
  ASSERT_TRUE(Call(kExecute, IdentityRequest(graph_id_, ""), response).ok());
  absl::Notification started, release;
  control().SetExecuteHook([&](const FakeLaunchInfo&) {
    if (!started.HasBeenNotified()) started.Notify();
    release.WaitForNotification();
  });
  StartCall();
  started.WaitForNotification();
  StartCall();
  AwaitQueueDepth(1);
  const grpc::Status status =
      Call(kExecute, IdentityRequest(graph_id_, ""), response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const auto limit = DetailOf<v1::LimitExceeded>(status);
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->limit(), "max_queue_length");
  EXPECT_EQ(limit->maximum(), 1);
  EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(status).has_value());
  release.Notify();
  for (auto& client : clients_) client->Join();
  StopServer();
}

TEST_F(SlowDeviceTest, AQueueTimeoutThatPassesIsToldWithItsTime) {
  StartCall();
  started_.WaitForNotification();
  v1::ExecuteRequest request = IdentityRequest(graph_id_, "");
  request.mutable_options()->mutable_queue_timeout()->set_nanos(20'000'000);
  v1::ExecuteResponse response;
  const grpc::Status status = Call(kExecute, request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(),
              HasSubstr("for 20ms, the limit queue_timeout"));
  EXPECT_EQ(Outcomes().at("expired"), 1);
  EXPECT_EQ(Outcomes().at("queue_timeout"), 1);
}

TEST_F(SlowDeviceTest, AnExecutionTimeoutThatPassesIsToldWithItsTime) {
  v1::ExecuteRequest request = IdentityRequest(graph_id_, "");
  request.mutable_options()->mutable_execution_timeout()->set_nanos(20'000'000);
  FakePause pause(control());
  v1::ExecuteResponse response;
  Release();
  const grpc::Status status = Call(kExecute, request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(),
              HasSubstr("for 20ms, the limit execution_timeout"));
  EXPECT_EQ(Outcomes().at("queue_timeout"), 0);
}

TEST_F(SlowDeviceTest, TimeoutsAndPrioritiesThatAreNoneAreRefusedByName) {
  const auto refusal = [&](auto fill) {
    v1::ExecuteRequest request = IdentityRequest(graph_id_, "");
    fill(*request.mutable_options());
    v1::ExecuteResponse response;
    const grpc::Status status = Call(kExecute, request, response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    const auto detail = DetailOf<google::rpc::BadRequest>(status);
    return detail.has_value() ? detail->field_violations(0).field() : "";
  };
  EXPECT_EQ(refusal([](auto& it) { it.mutable_queue_timeout(); }),
            "options.queue_timeout");
  EXPECT_EQ(
      refusal([](auto& it) { it.mutable_queue_timeout()->set_seconds(-1); }),
      "options.queue_timeout");
  EXPECT_EQ(refusal([](auto& it) {
              it.mutable_execution_timeout()->set_seconds(INT64_MAX);
            }),
            "options.execution_timeout");
  EXPECT_EQ(
      refusal([](auto& it) { it.set_priority(static_cast<v1::Priority>(9)); }),
      "options.priority");
}

// The device is busy; of what waits, each ends before the next has its lane.
TEST_F(SlowDeviceTest, PrioritiesAndSessionsDecideWhoIsNext) {
  StartCall();
  started_.WaitForNotification();
  absl::Mutex mu;
  std::vector<std::string> order;
  std::vector<std::thread> threads;
  int64_t depth = 0;
  const auto queue = [&](const std::string& name, const std::string& session,
                         v1::Priority priority) {
    threads.emplace_back([&, name, session, priority] {
      v1::ExecuteRequest request = IdentityRequest(graph_id_, "");
      request.mutable_options()->set_session_id(session);
      request.mutable_options()->set_priority(priority);
      v1::ExecuteResponse response;
      EXPECT_TRUE(Call(kExecute, request, response).ok());
      absl::MutexLock lock(&mu);
      order.push_back(name);
    });
    AwaitQueueDepth(++depth);
  };
  const std::string flood = NewSession(), other = NewSession();
  for (int i = 0; i < 8; ++i) queue("flood", flood, v1::PRIORITY_NORMAL);
  queue("other", other, v1::PRIORITY_NORMAL);
  queue("high", flood, v1::PRIORITY_HIGH);
  Release();
  for (std::thread& thread : threads) thread.join();
  const auto place = [&](const std::string& name) {
    return std::find(order.begin(), order.end(), name) - order.begin();
  };
  // Answers may overtake each other by one or two.
  EXPECT_LE(place("high"), 2);
  EXPECT_LE(place("other"), 4);
}

TEST_F(SlowDeviceTest, IsNotReadyWhileItsQueueDoesNotMove) {
  Release();
  StopServer();
  config_.engine.max_stall_time = absl::Milliseconds(50);
  StartServer();
  graph_id_ = Submit(ReluGraph());
  absl::Notification started, release;
  control().SetExecuteHook([&](const FakeLaunchInfo&) {
    if (!started.HasBeenNotified()) started.Notify();
    release.WaitForNotification();
  });
  const auto await = [&](HealthCheckResponse::ServingStatus wanted) {
    HealthCheckResponse response;
    do {
      ASSERT_TRUE(
          Call("/grpc.health.v1.Health/Check", HealthCheckRequest(), response)
              .ok());
    } while (response.status() != wanted);
  };
  StartCall();
  started.WaitForNotification();
  await(HealthCheckResponse::SERVING);
  StartCall();
  await(HealthCheckResponse::NOT_SERVING);
  release.Notify();
  await(HealthCheckResponse::SERVING);
  for (auto& client : clients_) client->Join();
  StopServer();
}

TEST_F(SlowDeviceTest, ADrainWaitsForWhatRuns) {
  Client& client = StartCall();
  started_.WaitForNotification();
  bool is_done = false;
  std::thread drain(
      [&] { is_done = server_->Shutdown(absl::Now() + absl::Seconds(60)); });
  Release();
  drain.join();
  EXPECT_TRUE(is_done);
  client.Join();
  EXPECT_TRUE(client.status.ok()) << client.status.error_message();
}

TEST_F(SlowDeviceTest, ADrainDoesNotWaitForEver) {
  Client& client = StartCall();
  started_.WaitForNotification();
  EXPECT_FALSE(server_->Shutdown(absl::Now() + absl::Milliseconds(50)));
  client.Join();
  EXPECT_FALSE(client.status.ok());
}

TEST_F(SlowDeviceTest, ALostDeviceIsUnavailableFromThenOn) {
  Release();
  control().FailLaunch(0);
  for (int i = 0; i < 2; ++i) {
    v1::ExecuteResponse response;
    const grpc::Status status =
        Call(kExecute, IdentityRequest(graph_id_, ""), response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE)
        << status.error_message();
    EXPECT_EQ(ReasonOf(status), "DEVICE_LOST");
    EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(status).has_value());
  }
}

// A device of another backend takes nothing either, and comes first.
TEST_F(SlowDeviceTest, ALostBackendIsToldByItsOwnDevice) {
  Release();
  StopServer();
  config_.device_names = {"cpu:0", "vulkan:0"};
  StartServer();
  graph_id_ = Submit(ReluGraph());
  v1::DrainDeviceRequest drain;
  drain.set_device("cpu:0");
  v1::Device drained;
  ASSERT_TRUE(
      Call("/tensord.v1.DeviceService/DrainDevice", drain, drained).ok());
  control().FailLaunch(0);
  for (int i = 0; i < 2; ++i) {
    v1::ExecuteResponse response;
    const grpc::Status status =
        Call(kExecute, IdentityRequest(graph_id_, "vulkan"), response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    const auto info = DetailOf<google::rpc::ErrorInfo>(status);
    ASSERT_TRUE(info.has_value());
    EXPECT_EQ(info->reason(), "DEVICE_LOST");
    EXPECT_EQ(info->metadata().at("device"), "vulkan:0");
  }
}

}  // namespace
}  // namespace tensord
