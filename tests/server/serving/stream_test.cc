// Many requests on one stream.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "tensord/v1/errors.pb.h"
#include "tests/server/serving/serving_test.h"
#include "tests/support/fake_backend.h"

namespace tensord {
namespace {

class StreamTest : public ServingTest {
 protected:
  using Stream = grpc::ClientReaderWriter<v1::ExecuteStreamRequest,
                                          v1::ExecuteStreamResponse>;

  void SetUp() override {
    ServingTest::SetUp();
    graph_id_ = Submit(ReluGraph());
  }

  v1::ExecuteStreamRequest Request(const std::string& correlation_id) {
    v1::ExecuteStreamRequest request;
    request.set_correlation_id(correlation_id);
    *request.mutable_request() = IdentityRequest(graph_id_, "");
    return request;
  }

  std::string graph_id_;
};

TEST_F(StreamTest, EveryRequestHasItsOwnAnswer) {
  grpc::ClientContext context;
  const std::unique_ptr<Stream> stream = executions->ExecuteStream(&context);
  constexpr int kCount = 300;
  std::map<std::string, float> answers;
  std::thread reader([&] {
    v1::ExecuteStreamResponse response;
    while (stream->Read(&response)) {
      ASSERT_TRUE(response.has_response()) << response.error().message();
      const std::string& data = response.response().outputs(0).tensor().data();
      answers[response.correlation_id()] =
          reinterpret_cast<const float*>(data.data())[1];
    }
  });
  for (int i = 0; i < kCount; ++i) {
    v1::ExecuteStreamRequest request = Request(absl::StrCat(i));
    request.mutable_request()->mutable_inputs(0)->mutable_tensor()->set_data(
        Floats({1, static_cast<float>(i)}));
    ASSERT_TRUE(stream->Write(request));
  }
  stream->WritesDone();
  reader.join();
  const grpc::Status status = stream->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(answers.size(), kCount);
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(answers[absl::StrCat(i)], static_cast<float>(i));
  }
}

TEST_F(StreamTest, AFailedRequestDoesNotEndTheStream) {
  grpc::ClientContext context;
  const std::unique_ptr<Stream> stream = executions->ExecuteStream(&context);
  v1::ExecuteStreamRequest wrong = Request("wrong");
  wrong.mutable_request()->mutable_inputs(0)->mutable_tensor()->set_data("1");
  v1::ExecuteStreamRequest empty;
  empty.set_correlation_id("empty");
  v1::ExecuteStreamRequest marked = Request(std::string(129, 'x'));
  ASSERT_TRUE(stream->Write(wrong));
  ASSERT_TRUE(stream->Write(empty));
  ASSERT_TRUE(stream->Write(marked));
  ASSERT_TRUE(stream->Write(Request("right")));
  stream->WritesDone();
  std::map<std::string, v1::ExecuteStreamResponse> answers;
  v1::ExecuteStreamResponse response;
  while (stream->Read(&response)) answers[response.correlation_id()] = response;
  EXPECT_TRUE(stream->Finish().ok());
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_EQ(answers["wrong"].error().code(), 3);
  EXPECT_GT(answers["wrong"].error().details_size(), 0);
  EXPECT_EQ(answers["empty"].error().code(), 3);
  EXPECT_EQ(answers[std::string(129, 'x')].error().code(), 3);
  EXPECT_TRUE(answers["right"].has_response());
}

TEST_F(StreamTest, BytesThatAreNoMessageEndTheStream) {
  grpc::ClientContext context;
  const std::unique_ptr<Stream> stream = executions->ExecuteStream(&context);
  // A field of 15 with a wire type of 7.
  v1::ExecuteStreamRequest request;
  request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(
      15, "\x7f\x7f\x7f");
  // Known as `request`, whose own bytes are no message: one request's error.
  ASSERT_TRUE(stream->Write(request));
  v1::ExecuteStreamResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.error().code(), 3);
  // Twice the same field.
  request = Request("twice");
  request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(
      15, "");
  stream->Write(request);
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  ExpectNothingOpen();
}

TEST_F(StreamTest, ADrainEndsAnIdleStream) {
  grpc::ClientContext context;
  const std::unique_ptr<Stream> stream = executions->ExecuteStream(&context);
  ASSERT_TRUE(stream->Write(Request("1")));
  v1::ExecuteStreamResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_TRUE(server_->Shutdown(absl::Now() + absl::Seconds(30)));
  EXPECT_FALSE(stream->Read(&response));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "DRAINING");
}

class HeldStreamTest : public StreamTest {
 protected:
  HeldStreamTest() : fake_(BackendId::kVulkan, {.max_lanes = 1}) {
    config_.device_names = {"vulkan:0"};
    config_.engine.inline_limit = absl::ZeroDuration();
    config_.max_stream_executions = 4;
  }
  std::vector<Backend*> MoreBackends() override { return {&fake_}; }
  void SetUp() override {
    StreamTest::SetUp();
    v1::ExecuteResponse response;  // compiles it
    ASSERT_TRUE(Execute(IdentityRequest(graph_id_, ""), response).ok());
    fake_.control(0).SetExecuteHook([this](const FakeLaunchInfo&) {
      if (!started_.HasBeenNotified()) started_.Notify();
      release_.WaitForNotification();
    });
  }
  void TearDown() override {
    Release();
    StopServer();
  }
  void Release() {
    if (!release_.HasBeenNotified()) release_.Notify();
  }
  int64_t OpenRuns() {
    const DeviceStatus device = engine_->Devices()[0];
    return device.in_flight + device.queue_depth;
  }

  FakeBackend fake_;
  absl::Notification started_, release_;
};

TEST_F(HeldStreamTest, OnlySoManyAreTakenBeforeTheirAnswers) {
  grpc::ClientContext context;
  const std::unique_ptr<Stream> stream = executions->ExecuteStream(&context);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(stream->Write(Request("r")));
  while (OpenRuns() < 4) std::this_thread::yield();
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_EQ(OpenRuns(), 4);
  stream->WritesDone();
  Release();
  int answers = 0;
  v1::ExecuteStreamResponse response;
  while (stream->Read(&response)) ++answers;
  EXPECT_EQ(answers, 20);
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(HeldStreamTest, AClientThatLeavesTakesItsRunsWithIt) {
  {
    grpc::ClientContext context;
    const std::unique_ptr<Stream> stream = executions->ExecuteStream(&context);
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(stream->Write(Request("r")));
    while (OpenRuns() < 4) std::this_thread::yield();
    context.TryCancel();
    EXPECT_FALSE(stream->Finish().ok());
  }
  while (OpenRuns() > 1) std::this_thread::yield();
  Release();
  ExpectNothingOpen();
}

TEST_F(HeldStreamTest, ADrainAnswersWhatWasAccepted) {
  grpc::ClientContext context;
  const std::unique_ptr<Stream> stream = executions->ExecuteStream(&context);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(stream->Write(Request("r")));
  while (OpenRuns() < 3) std::this_thread::yield();
  bool is_done = false;
  std::thread drain(
      [&] { is_done = server_->Shutdown(absl::Now() + absl::Seconds(60)); });
  Release();
  int answers = 0;
  v1::ExecuteStreamResponse response;
  while (stream->Read(&response)) answers += response.has_response();
  EXPECT_EQ(answers, 3);
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  drain.join();
  EXPECT_TRUE(is_done);
}

}  // namespace
}  // namespace tensord
