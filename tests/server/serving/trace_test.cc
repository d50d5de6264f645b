// What a call is called: in its errors, in the log, and in the record of its
// run; and what the record of a run that has ended tells of its time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "tests/server/serving/serving_test.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr char kSentId[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kSent[] =
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
// 32 hexadecimal digits.
constexpr char kIdPattern[] = "[0-9a-f]{32}";

std::string TraceIdOf(const grpc::Status& status) {
  const auto info = DetailOf<google::rpc::RequestInfo>(status);
  return info.has_value() ? info->request_id() : "";
}

class TraceTest : public ServingTest {
 protected:
  // An error with these headers, each once.
  grpc::Status Fail(const std::vector<std::string>& traceparents) {
    grpc::ClientContext context;
    for (const std::string& traceparent : traceparents) {
      context.AddMetadata("traceparent", traceparent);
    }
    v1::ExecuteRequest request;
    request.set_graph_id("no such graph");
    v1::ExecuteResponse response;
    return executions->Execute(&context, request, &response);
  }

  v1::ExecuteRequest TracedRequest() {
    v1::ExecuteRequest request = IdentityRequest(Submit(ReluGraph()), "cpu:0");
    request.mutable_options()->mutable_trace()->set_max_rows(10);
    return request;
  }

  v1::WaitExecutionResponse StartAndWait(const v1::ExecuteRequest& request) {
    grpc::ClientContext context;
    context.AddMetadata("traceparent", kSent);
    v1::Execution started;
    grpc::Status status =
        executions->StartExecution(&context, request, &started);
    EXPECT_TRUE(status.ok()) << status.error_message();
    v1::WaitExecutionResponse end;
    status = Wait(started.execution_id(), end);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return end;
  }
};

TEST_F(TraceTest, AnErrorAndItsLineInTheLogHaveTheClientsTraceId) {
  EXPECT_EQ(TraceIdOf(Fail({kSent})), kSentId);
  EXPECT_THAT(log_lines(), HasSubstr(absl::StrCat("trace_id=", kSentId)));
}

TEST_F(TraceTest, ACallThatSentNoneGetsOneOfItsOwn) {
  const std::string first = TraceIdOf(Fail({}));
  const std::string second = TraceIdOf(Fail({}));
  EXPECT_THAT(first, MatchesRegex(kIdPattern));
  EXPECT_NE(first, second);
  EXPECT_THAT(log_lines(), HasSubstr(absl::StrCat("trace_id=", first)));
  EXPECT_THAT(log_lines(), HasSubstr(absl::StrCat("trace_id=", second)));
}

TEST_F(TraceTest, WhatIsNoTraceparentIsAsIfItHadNotBeenSent) {
  const std::string marker = "evil";
  for (const std::vector<std::string>& hostile :
       std::vector<std::vector<std::string>>{
           {""},
           {marker},
           {absl::StrCat("00-", kSentId)},
           {absl::StrCat(kSent, "-", marker)},
           {absl::StrCat("ff", std::string(kSent).substr(2))},
           {std::string(7000, 'a')},
           {absl::StrCat(std::string(55, '0'), marker)},
           {absl::StrCat("00-", std::string(32, '0'), "-00f067aa0ba902b7-01")},
           {absl::StrCat("00-", std::string(32, '\''), "-00f067aa0ba902b7-01")},
           {"00-4bf92f3577b34da6\" trace_id=-00f067aa0ba902b700f067aa0-01"},
           {"00-%s%n%x4bf92f3577b34da6a3ce929d0e0-00f067aa0ba902b7-01"},
           // Two of them: which one is meant nobody knows.
           {kSent, kSent}}) {
    const std::string id = TraceIdOf(Fail(hostile));
    EXPECT_THAT(id, MatchesRegex(kIdPattern)) << hostile[0];
    EXPECT_NE(id, kSentId) << hostile[0];
    EXPECT_NE(id, std::string(32, '0'));
  }
  EXPECT_THAT(log_lines(), Not(HasSubstr(marker)));
}

// Of a version that is not there yet, the beginning is as now.
TEST_F(TraceTest, ALaterVersionsTraceIdIsTaken) {
  const std::string later =
      absl::StrCat("cc", std::string(kSent).substr(2), "-and-more");
  EXPECT_EQ(TraceIdOf(Fail({later})), kSentId);
}

TEST_F(TraceTest, AnErrorOnAStreamHasTheStreamsTraceId) {
  grpc::ClientContext context;
  context.AddMetadata("traceparent", kSent);
  const auto stream = executions->ExecuteStream(&context);
  v1::ExecuteStreamRequest request;
  request.mutable_request()->set_graph_id("no such graph");
  ASSERT_TRUE(stream->Write(request));
  stream->WritesDone();
  v1::ExecuteStreamResponse response;
  ASSERT_TRUE(stream->Read(&response));
  google::rpc::RequestInfo info;
  ASSERT_GT(response.error().details_size(), 0);
  ASSERT_TRUE(response.error().details(0).UnpackTo(&info));
  EXPECT_EQ(info.request_id(), kSentId);
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(TraceTest, TheRecordOfARunHasItsTraceIdAndItsStagesInALine) {
  const v1::ExecuteRequest request =
      IdentityRequest(Submit(ReluGraph()), "cpu:0");
  const std::string id = StartAndWait(request).execution().execution_id();
  v1::Execution execution;
  ASSERT_TRUE(GetExecution(id, execution).ok());
  EXPECT_EQ(execution.trace_id(), kSentId);
  ASSERT_GE(execution.stages_size(), 2);
  EXPECT_EQ(execution.stages(0).phase(), "decode");
  const auto nanos = [](const google::protobuf::Timestamp& time) {
    return time.seconds() * 1'000'000'000 + time.nanos();
  };
  // They do not overlap, but for what two clocks may differ by.
  constexpr int64_t kClocksNs = 1'000'000;
  int64_t end_ns = 0;
  for (const v1::ExecutionStage& stage : execution.stages()) {
    EXPECT_GT(stage.duration_ns(), 0) << stage.phase();
    EXPECT_GE(nanos(stage.start_time()), end_ns) << stage.phase();
    end_ns = nanos(stage.start_time()) + stage.duration_ns();
  }
  EXPECT_LE(end_ns, nanos(execution.end_time()) + kClocksNs);
  EXPECT_EQ(nanos(execution.stages(0).start_time()) +
                execution.stages(0).duration_ns(),
            nanos(execution.create_time()));
}

TEST_F(TraceTest, ALaunchOfATraceHasItsNodeItsKernelAndItsBytes) {
  const v1::WaitExecutionResponse end = StartAndWait(TracedRequest());
  ASSERT_EQ(end.trace().rows_size(), 1);
  const v1::TraceRow& row = end.trace().rows(0);
  EXPECT_EQ(row.op(), "Relu");
  EXPECT_EQ(row.node(), "Relu_0");
  EXPECT_FALSE(row.kernel().empty());
  EXPECT_EQ(row.device(), "cpu:0");
  EXPECT_EQ(row.size_bytes(), 16);
  EXPECT_FALSE(row.has_device_ns()) << "a processor's time is the host's";
}

TEST_F(TraceTest, ATraceCountsAsItsRunsResultAndGoesWithIt) {
  StopServer();
  config_.max_result_bytes = 100;
  Start();
  EXPECT_EQ(holdings_->executions.result_bytes(), 0);
  v1::Execution started;
  ASSERT_TRUE(StartExecution(TracedRequest(), started).ok());
  grpc::ClientContext context;
  v1::WaitExecutionRequest wait;
  wait.set_execution_id(started.execution_id());
  wait.set_omit_outputs(true);
  v1::WaitExecutionResponse again;
  ASSERT_TRUE(executions->WaitExecution(&context, wait, &again).ok());
  // Its making room follows its end's being told.
  ExpectNothingOpen();
  EXPECT_EQ(holdings_->executions.result_bytes(), 0);
  grpc::ClientContext context_after;
  ASSERT_TRUE(executions->WaitExecution(&context_after, wait, &again).ok());
  EXPECT_EQ(again.execution().state(), v1::EXECUTION_STATE_SUCCEEDED);
  EXPECT_EQ(again.trace().rows_size(), 0);
}

}  // namespace
}  // namespace tensord
