// Runs that clients know by handles: states, waiting, retries, tensors in and
// out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "absl/synchronization/notification.h"
#include "google/rpc/error_details.pb.h"
#include "tensord/v1/errors.pb.h"
#include "tests/server/serving/serving_test.h"
#include "tests/support/fake_backend.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

class ExecutionsTest : public ServingTest {
 protected:
  void SetUp() override {
    ServingTest::SetUp();
    graph_id_ = Submit(ReluGraph());
    session_ = CreateSession().session_id();
  }

  v1::ExecuteRequest Request() {
    v1::ExecuteRequest request = IdentityRequest(graph_id_, "cpu:0");
    request.mutable_options()->set_session_id(session_);
    return request;
  }

  // With x by handle.
  v1::ExecuteRequest RequestOn(const std::string& tensor_id, bool donate) {
    v1::ExecuteRequest request = Request();
    v1::ExecuteInput& input = *request.mutable_inputs(0);
    input.set_tensor_id(tensor_id);
    input.set_donate(donate);
    return request;
  }

  static void KeepOutput(v1::ExecuteRequest& request) {
    v1::RequestedOutput& output = *request.add_outputs();
    output.set_name("y");
    output.set_keep_on_device(true);
  }

  std::string graph_id_;
  std::string session_;
};

TEST_F(ExecutionsTest, AStartedRunIsWaitedForAndToldOf) {
  v1::Execution started;
  ASSERT_TRUE(StartExecution(Request(), started).ok());
  EXPECT_EQ(started.graph_id(), graph_id_);
  EXPECT_EQ(started.session_id(), session_);
  v1::WaitExecutionResponse waited;
  for (int i = 0; i < 2; ++i) {
    const grpc::Status status = Wait(started.execution_id(), waited);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(waited.execution().state(), v1::EXECUTION_STATE_SUCCEEDED);
    ASSERT_EQ(waited.outputs_size(), 1);
    EXPECT_EQ(waited.outputs(0).name(), "y");
    EXPECT_EQ(waited.outputs(0).tensor().data(), Floats({1, 2}));
  }
  const v1::Execution& ended = waited.execution();
  EXPECT_EQ(ended.device(), "cpu:0");
  EXPECT_TRUE(ended.has_create_time());
  EXPECT_TRUE(ended.has_compile_end_time());
  EXPECT_TRUE(ended.has_start_time());
  EXPECT_TRUE(ended.has_end_time());
  EXPECT_GE(ended.end_time().seconds(), ended.start_time().seconds());
  EXPECT_GT(ended.result_expire_time().seconds(), ended.end_time().seconds());
  EXPECT_GT(ended.timings().run_ns(), 0);
  v1::Execution got;
  ASSERT_TRUE(GetExecution(started.execution_id(), got).ok());
  EXPECT_EQ(got.state(), v1::EXECUTION_STATE_SUCCEEDED);
  EXPECT_EQ(GetExecution("tensord." + std::string(26, 'a'), got).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(ExecutionsTest, AWrongStartIsRefusedAtOnce) {
  v1::ExecuteRequest request = Request();
  request.mutable_inputs(0)->mutable_tensor()->set_dtype(v1::DTYPE_INT32);
  v1::Execution started;
  const grpc::Status status = StartExecution(request, started);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(DetailOf<v1::InvalidTensor>(status).has_value());
  EXPECT_EQ(holdings_->executions.count(), 0);
}

TEST_F(ExecutionsTest, ARequestIdRunsOnceAndAnswersTwice) {
  v1::ExecuteRequest request = Request();
  request.mutable_options()->set_request_id("r-1");
  v1::ExecuteResponse first, second;
  ASSERT_TRUE(Execute(request, first).ok());
  EXPECT_FALSE(first.is_replay());
  // What may differ does.
  request.mutable_options()->mutable_trace()->set_max_rows(3);
  const grpc::Status status = Execute(request, second);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(second.is_replay());
  EXPECT_EQ(second.execution_id(), first.execution_id());
  EXPECT_EQ(second.outputs(0).tensor().data(),
            first.outputs(0).tensor().data());
  // Also by the other way of running.
  v1::Execution started;
  ASSERT_TRUE(StartExecution(request, started).ok());
  EXPECT_EQ(started.execution_id(), first.execution_id());
  // Another session's id is another one.
  request.mutable_options()->set_session_id(CreateSession().session_id());
  ASSERT_TRUE(Execute(request, second).ok());
  EXPECT_FALSE(second.is_replay());
}

TEST_F(ExecutionsTest, ARequestIdOfAnotherRequestIsRefused) {
  v1::ExecuteRequest request = Request();
  request.mutable_options()->set_request_id("r-1");
  v1::ExecuteResponse response;
  ASSERT_TRUE(Execute(request, response).ok());
  request.mutable_inputs(0)->mutable_tensor()->set_data(Floats({1, 3}));
  const grpc::Status status = Execute(request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReasonOf(status), "REQUEST_ID_REUSED");
}

TEST_F(ExecutionsTest, AResultThatIsGoneIsNotMadeAgain) {
  v1::ExecuteRequest request = Request();
  request.mutable_options()->set_request_id("r-1");
  request.mutable_options()->mutable_keep_result()->set_seconds(20);
  v1::ExecuteResponse response;
  ASSERT_TRUE(Execute(request, response).ok());
  holdings_->executions.RemoveExpired(absl::Now() + absl::Seconds(21));
  const uint64_t launches = engine_->Devices()[0].completed;
  grpc::Status status = Execute(request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(status), "RESULT_EXPIRED");
  v1::WaitExecutionResponse waited;
  EXPECT_EQ(ReasonOf(Wait(response.execution_id(), waited)), "RESULT_EXPIRED");
  // And when its record is gone as well.
  holdings_->executions.RemoveExpired(absl::Now() + absl::Minutes(30));
  EXPECT_EQ(ReasonOf(Execute(request, response)), "RESULT_EXPIRED");
  EXPECT_EQ(engine_->Devices()[0].completed, launches);
}

TEST_F(ExecutionsTest, AnInputByHandleIsNotCopied) {
  const std::string id = UploadVector(session_, {-1, 2}).tensor_id();
  v1::ExecuteResponse response;
  for (int i = 0; i < 2; ++i) {
    const grpc::Status status = Execute(RequestOn(id, false), response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.outputs(0).tensor().data(), Floats({0, 2}));
  }
  EXPECT_EQ(
      Execute(RequestOn("tensord." + std::string(26, 'a'), false), response)
          .error_code(),
      grpc::StatusCode::NOT_FOUND);
  ExpectNothingOpen();
  // Only the tensor's own: a copy for a run would be from the pool, too.
  EXPECT_EQ(engine_->buffers().loaned_bytes(), 64u);
}

TEST_F(ExecutionsTest, AnOutputStaysAndIsAnInputAgain) {
  v1::ExecuteRequest request = Request();
  KeepOutput(request);
  v1::ExecuteResponse response;
  grpc::Status status = Execute(request, response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_TRUE(response.outputs(0).has_handle());
  const v1::TensorInfo& info = response.outputs(0).handle();
  EXPECT_EQ(info.execution_id(), response.execution_id());
  EXPECT_EQ(info.size_bytes(), 8);
  EXPECT_EQ(DownloadAll(info.tensor_id()), Floats({1, 2}));
  v1::ExecuteResponse again;
  status = Execute(RequestOn(info.tensor_id(), false), again);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(again.outputs(0).tensor().data(), Floats({1, 2}));
}

TEST_F(ExecutionsTest, ADonatedInputIsConsumedOnce) {
  const std::string id = UploadVector(session_, {-1, 2}).tensor_id();
  v1::ExecuteRequest request = RequestOn(id, true);
  KeepOutput(request);
  request.mutable_outputs(0)->set_reuse_input("x");
  v1::ExecuteResponse response;
  grpc::Status status = Execute(request, response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(DownloadAll(response.outputs(0).handle().tensor_id()),
            Floats({0, 2}));
  status = Execute(request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(status), "TENSOR_CONSUMED");
  EXPECT_EQ(holdings_->tensors.count(), 1);
}

TEST_F(ExecutionsTest, ARefusedRunConsumesNothing) {
  const std::string id = UploadVector(session_, {1, 2, 3}).tensor_id();
  v1::ExecuteResponse response;
  // The graph takes two.
  EXPECT_EQ(Execute(RequestOn(id, true), response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DownloadAll(id), Floats({1, 2, 3}));
}

TEST_F(ExecutionsTest, WrongDonationsAreRefused) {
  const std::string id = UploadVector(session_, {1, 2}).tensor_id();
  v1::ExecuteResponse response;
  v1::ExecuteRequest request = RequestOn(id, false);
  KeepOutput(request);
  request.mutable_outputs(0)->set_reuse_input("x");
  grpc::Status status = Execute(request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("not donated"));
  request.mutable_outputs(0)->set_reuse_input("q");
  EXPECT_EQ(Execute(request, response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  request = Request();
  request.add_outputs()->set_name("y");
  request.mutable_outputs(0)->set_reuse_input("x");
  status = Execute(request, response);
  EXPECT_THAT(status.error_message(), HasSubstr("need keep_on_device"));
}

TEST_F(ExecutionsTest, AListHasStatesAndPages) {
  for (int i = 0; i < 3; ++i) {
    v1::Execution started;
    ASSERT_TRUE(StartExecution(Request(), started).ok());
    v1::WaitExecutionResponse waited;
    ASSERT_TRUE(Wait(started.execution_id(), waited).ok());
  }
  v1::ListExecutionsRequest request;
  request.set_session_id(session_);
  request.add_states(v1::EXECUTION_STATE_SUCCEEDED);
  request.set_page_size(2);
  v1::ListExecutionsResponse response;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(executions->ListExecutions(&context, request, &response).ok());
  }
  EXPECT_EQ(response.executions_size(), 2);
  request.set_page_token(response.next_page_token());
  {
    grpc::ClientContext context;
    ASSERT_TRUE(executions->ListExecutions(&context, request, &response).ok());
  }
  EXPECT_EQ(response.executions_size(), 1);
  EXPECT_EQ(response.next_page_token(), "");
  request.clear_page_token();
  request.set_states(0, v1::EXECUTION_STATE_FAILED);
  grpc::ClientContext context;
  ASSERT_TRUE(executions->ListExecutions(&context, request, &response).ok());
  EXPECT_EQ(response.executions_size(), 0);
}

// With a device that runs when it is told to.
class HeldExecutionsTest : public ExecutionsTest {
 protected:
  HeldExecutionsTest() : fake_(BackendId::kVulkan, {.max_lanes = 1}) {
    config_.device_names = {"vulkan:0"};
    config_.engine.inline_limit = absl::ZeroDuration();
    config_.max_session_executions = 3;
  }
  std::vector<Backend*> MoreBackends() override { return {&fake_}; }
  void SetUp() override {
    ExecutionsTest::SetUp();
    v1::ExecuteResponse response;  // compiles it
    ASSERT_TRUE(Execute(Request(), response).ok());
    fake_.control(0).SetExecuteHook([this](const FakeLaunchInfo&) {
      if (!started_.HasBeenNotified()) started_.Notify();
      release_.WaitForNotification();
    });
  }
  void TearDown() override {
    Release();
    StopServer();
  }
  v1::ExecuteRequest Request() {
    v1::ExecuteRequest request = ExecutionsTest::Request();
    request.mutable_options()->clear_device();
    return request;
  }
  void Release() {
    if (!release_.HasBeenNotified()) release_.Notify();
  }
  v1::Execution StartOne() {
    v1::Execution started;
    const grpc::Status status = StartExecution(Request(), started);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return started;
  }

  FakeBackend fake_;
  absl::Notification started_, release_;
};

TEST_F(HeldExecutionsTest, AWaitEndsWithItsTimeoutAndTellsTheState) {
  const v1::Execution running = StartOne();
  started_.WaitForNotification();
  const v1::Execution queued = StartOne();
  v1::WaitExecutionResponse waited;
  ASSERT_TRUE(
      Wait(running.execution_id(), waited, absl::Milliseconds(20)).ok());
  EXPECT_EQ(waited.execution().state(), v1::EXECUTION_STATE_RUNNING);
  EXPECT_EQ(waited.execution().device(), "vulkan:0");
  EXPECT_EQ(waited.outputs_size(), 0);
  ASSERT_TRUE(Wait(queued.execution_id(), waited, absl::ZeroDuration()).ok());
  EXPECT_EQ(waited.execution().state(), v1::EXECUTION_STATE_QUEUED);
}

TEST_F(HeldExecutionsTest, ManyWaitForOneAndEachGetsTheOutputs) {
  const v1::Execution run = StartOne();
  std::vector<std::thread> waiters;
  std::atomic<int> answered{0};
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&] {
      v1::WaitExecutionResponse waited;
      if (Wait(run.execution_id(), waited).ok() &&
          waited.outputs(0).tensor().data() == Floats({1, 2})) {
        ++answered;
      }
    });
  }
  // A waiter that leaves takes nothing with it.
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::milliseconds(30));
  v1::WaitExecutionRequest request;
  request.set_execution_id(run.execution_id());
  request.mutable_timeout()->set_seconds(60);
  v1::WaitExecutionResponse waited;
  EXPECT_EQ(executions->WaitExecution(&context, request, &waited).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  Release();
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(answered, 8);
}

TEST_F(HeldExecutionsTest, ACancelledRunIsCancelledForItsWaiters) {
  StartOne();
  started_.WaitForNotification();
  const v1::Execution queued = StartOne();
  std::thread waiter([&] {
    v1::WaitExecutionResponse waited;
    ASSERT_TRUE(Wait(queued.execution_id(), waited).ok());
    EXPECT_EQ(waited.execution().state(), v1::EXECUTION_STATE_CANCELLED);
    EXPECT_EQ(waited.execution().error().code(), 1);
  });
  grpc::ClientContext context;
  v1::CancelExecutionRequest request;
  request.set_execution_id(queued.execution_id());
  v1::Execution execution;
  ASSERT_TRUE(executions->CancelExecution(&context, request, &execution).ok());
  EXPECT_EQ(execution.state(), v1::EXECUTION_STATE_CANCELLED);
  waiter.join();
}

TEST_F(HeldExecutionsTest, OpenRunsOfASessionAreLimitedAndEndWithIt) {
  StartOne();
  started_.WaitForNotification();
  StartOne();
  const v1::Execution last = StartOne();
  v1::Execution refused;
  const grpc::Status status = StartExecution(Request(), refused);
  const auto limit = DetailOf<v1::LimitExceeded>(status);
  ASSERT_TRUE(limit.has_value()) << status.error_message();
  EXPECT_EQ(limit->limit(), "max_session_executions");
  std::thread release([&] {
    while (engine_->Devices()[0].queue_depth > 0) std::this_thread::yield();
    Release();
  });
  v1::CloseSessionResponse closed;
  ASSERT_TRUE(CloseSession(session_, &closed).ok());
  release.join();
  EXPECT_EQ(closed.cancelled_execution_count(), 3);
  EXPECT_EQ(engine_->Devices()[0].in_flight, 0);
  v1::Execution got;
  EXPECT_EQ(GetExecution(last.execution_id(), got).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(holdings_->executions.count(), 0);
}

TEST_F(HeldExecutionsTest, ARetryFindsTheRunThatItsBrokenCallBegan) {
  v1::ExecuteRequest request = Request();
  request.mutable_options()->set_request_id("r-1");
  grpc::ClientContext broken;
  std::thread client([&] {
    v1::ExecuteResponse response;
    EXPECT_EQ(executions->Execute(&broken, request, &response).error_code(),
              grpc::StatusCode::CANCELLED);
  });
  started_.WaitForNotification();
  broken.TryCancel();
  client.join();
  std::thread release([&] { Release(); });
  v1::ExecuteResponse response;
  const grpc::Status status = Execute(request, response);
  release.join();
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(response.is_replay());
  // The one that compiled, and this one.
  EXPECT_EQ(engine_->Devices()[0].completed, 2u);
}

TEST_F(HeldExecutionsTest, AClientThatVanishesEndsItsRunWithoutRequestId) {
  StartOne();
  started_.WaitForNotification();
  grpc::ClientContext context;
  std::thread client([&] {
    v1::ExecuteResponse response;
    EXPECT_EQ(executions->Execute(&context, Request(), &response).error_code(),
              grpc::StatusCode::CANCELLED);
  });
  while (engine_->Devices()[0].queue_depth != 1) std::this_thread::yield();
  context.TryCancel();
  client.join();
  while (engine_->Devices()[0].queue_depth != 0) std::this_thread::yield();
  Release();
  ExpectNothingOpen();
}

TEST_F(HeldExecutionsTest, ARefusedRequestIdMayBeTriedAgain) {
  StopServer();
  config_.engine.max_queue_length = 1;
  Start();
  graph_id_ = Submit(ReluGraph());
  session_ = CreateSession().session_id();
  Release();
  v1::ExecuteResponse response;
  ASSERT_TRUE(Execute(Request(), response).ok());
  absl::Notification started, release;
  fake_.control(0).SetExecuteHook([&](const FakeLaunchInfo&) {
    if (!started.HasBeenNotified()) started.Notify();
    release.WaitForNotification();
  });
  StartOne();
  started.WaitForNotification();
  StartOne();
  v1::ExecuteRequest request = Request();
  request.mutable_options()->set_request_id("r-1");
  const grpc::Status status = Execute(request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(status).has_value());
  release.Notify();
  ExpectNothingOpen();
  const grpc::Status second = Execute(request, response);
  ASSERT_TRUE(second.ok()) << second.error_message();
  EXPECT_FALSE(response.is_replay());
}

}  // namespace
}  // namespace tensord
