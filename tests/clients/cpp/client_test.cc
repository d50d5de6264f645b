#include "clients/cpp/client.h"

#include <gmock/gmock.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "clients/cpp/error_details.h"
#include "clients/cpp/tensors.h"
#include "tests/support/fake_daemon/fake_daemon.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;
using testing::Error;
using testing::FakeDaemon;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Client ConnectTo(const FakeDaemon& daemon, ClientOptions options = {}) {
  return *Client::Connect(daemon.address(), std::move(options));
}

TEST(Client, RefusesAnEmptyAddress) {
  const auto client = Client::Connect("");
  EXPECT_EQ(client.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(client.status().message(), HasSubstr("host:port"));
}

TEST(Client, SaysAtTheFirstCallThatNobodyAnswers) {
  std::string address;
  {
    const FakeDaemon daemon;
    address = daemon.address();
  }
  auto client = *Client::Connect(address);
  const auto devices = client.ListDevices();
  EXPECT_EQ(devices.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(devices.status().message(), HasSubstr("onnect"));
}

TEST(Client, GivesUpAtTheTimeoutOfTheCall) {
  FakeDaemon daemon;
  daemon.is_silent = true;
  auto client = ConnectTo(daemon);
  const absl::Time start = absl::Now();
  const auto devices =
      client.ListDevices({}, {.timeout = absl::Milliseconds(50)});
  EXPECT_EQ(devices.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(49));
  // Far below the client's own 60 s.
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
}

TEST(Client, HasItsOwnTimeoutForCallsWithout) {
  FakeDaemon daemon;
  daemon.is_silent = true;
  auto client = ConnectTo(daemon, {.timeout = absl::Milliseconds(50)});
  EXPECT_EQ(client.ListDevices().status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(Client, SubmitsASmallGraphInOneMessage) {
  FakeDaemon daemon;
  daemon.graph.set_name("net");
  auto client = ConnectTo(daemon);
  v1::CompileOptions compile;
  compile.set_deterministic(true);
  const auto submitted =
      client.SubmitGraph(v1::GRAPH_FORMAT_ONNX, "model", compile);
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  EXPECT_EQ(submitted->graph().name(), "net");
  ASSERT_THAT(daemon.submissions(), SizeIs(1));
  EXPECT_EQ(daemon.submissions()[0].bytes, "model");
  EXPECT_FALSE(daemon.submissions()[0].by_upload);
  EXPECT_TRUE(daemon.submissions()[0].options.deterministic());
}

TEST(Client, SubmitsAGraphOfItsOwnForm) {
  FakeDaemon daemon;
  auto client = ConnectTo(daemon);
  v1::Graph graph;
  graph.set_opset_version(13);
  ASSERT_TRUE(client.SubmitGraph(graph).ok());
  EXPECT_EQ(daemon.submissions()[0].format, v1::GRAPH_FORMAT_TENSORD);
  EXPECT_EQ(daemon.submissions()[0].bytes, graph.SerializeAsString());
}

// Sizes around a chunk's, so that the last one is full, short, or alone.
class Upload : public ::testing::TestWithParam<size_t> {};

TEST_P(Upload, SendsEveryByteOfALargeGraph) {
  FakeDaemon daemon;
  auto client =
      ConnectTo(daemon, {.max_message_bytes = 1, .upload_chunk_bytes = 1000});
  std::string bytes(GetParam(), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(i * 7);
  }
  v1::CompileOptions compile;
  compile.set_device("cpu:0");
  const auto submitted =
      client.SubmitGraph(v1::GRAPH_FORMAT_ONNX, bytes, compile);
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  ASSERT_THAT(daemon.submissions(), SizeIs(1));
  EXPECT_TRUE(daemon.submissions()[0].by_upload);
  EXPECT_EQ(daemon.submissions()[0].bytes, bytes);
  EXPECT_EQ(daemon.submissions()[0].format, v1::GRAPH_FORMAT_ONNX);
  EXPECT_EQ(daemon.submissions()[0].options.device(), "cpu:0");
}
INSTANTIATE_TEST_SUITE_P(Sizes, Upload,
                         ::testing::Values(0, 1, 999, 1000, 1001, 10'000));

TEST(Client, UploadsWhatTheTransportOfTheDaemonRefuses) {
  FakeDaemon daemon({.max_message_bytes = 100'000});
  // The default chunk of 1 MiB is above this daemon's limit, too.
  auto client = ConnectTo(daemon);
  const std::string bytes(200'000, 'x');
  const auto submitted = client.SubmitGraph(v1::GRAPH_FORMAT_ONNX, bytes);
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  EXPECT_TRUE(daemon.submissions()[0].by_upload);
  EXPECT_EQ(daemon.submissions()[0].bytes, bytes);
}

TEST(Client, TellsWhyAnUploadWasRefused) {
  FakeDaemon daemon;
  v1::LimitExceeded limit;
  limit.set_limit("max_upload_bytes");
  limit.set_maximum(10);
  daemon.failure = Error(8, "too large", limit);
  auto client =
      ConnectTo(daemon, {.max_message_bytes = 1, .upload_chunk_bytes = 1});
  const auto submitted =
      client.SubmitGraph(v1::GRAPH_FORMAT_ONNX, std::string(10'000, 'x'));
  EXPECT_EQ(submitted.status().code(), absl::StatusCode::kResourceExhausted);
  const auto detail = ErrorDetail<v1::LimitExceeded>(submitted.status());
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->limit(), "max_upload_bytes");
}

TEST(Client, ReadsTheTypedDetailsOfAnError) {
  FakeDaemon daemon;
  v1::NoBackendForOp no_backend;
  no_backend.set_op("Einsum");
  no_backend.add_backends("cpu");
  daemon.failure = Error(12, "no kernel for Einsum", no_backend);
  auto client = ConnectTo(daemon);
  const absl::Status status =
      client.SubmitGraph(v1::GRAPH_FORMAT_ONNX, "x").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(), "no kernel for Einsum");
  const auto detail = ErrorDetail<v1::NoBackendForOp>(status);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->op(), "Einsum");
  EXPECT_THAT(detail->backends(), ElementsAre("cpu"));
  EXPECT_FALSE(ErrorDetail<v1::LimitExceeded>(status).has_value());
}

TEST(ErrorDetails, SurviveTrailersThatAreNoStatus) {
  const grpc::Status status(grpc::StatusCode::NOT_FOUND, "gone", "\xff\xff");
  EXPECT_EQ(StatusFromGrpc(status), absl::NotFoundError("gone"));
}

TEST(ErrorDetails, KnowReasonsAndDelays) {
  google::rpc::Status error = Error(14, "draining");
  google::rpc::ErrorInfo info;
  info.set_reason("DRAINING");
  info.set_domain("tensord");
  error.add_details()->PackFrom(info);
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(5'000'000);
  error.add_details()->PackFrom(retry);
  const absl::Status status = StatusFromGrpc(
      {grpc::StatusCode::UNAVAILABLE, "draining", error.SerializeAsString()});
  EXPECT_EQ(ReasonOf(status), v1::DRAINING);
  EXPECT_EQ(RetryDelay(status), absl::Milliseconds(5));
}

TEST(ErrorDetails, OfAnotherDomainHaveNoReasonOfOurs) {
  google::rpc::ErrorInfo info;
  info.set_reason("DRAINING");
  info.set_domain("elsewhere.example");
  const google::rpc::Status error = Error(14, "x", info);
  const absl::Status status = StatusFromGrpc(
      {grpc::StatusCode::UNAVAILABLE, "x", error.SerializeAsString()});
  EXPECT_EQ(ReasonOf(status), v1::ERROR_REASON_UNSPECIFIED);
  EXPECT_FALSE(RetryDelay(status).has_value());
}

TEST(Client, PutsPagesTogether) {
  FakeDaemon daemon({.page_size = 2});
  auto client = ConnectTo(daemon);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(
        client.SubmitGraph(v1::GRAPH_FORMAT_ONNX, absl::StrCat(i)).ok());
    daemon.kernels.emplace_back().set_name(absl::StrCat("kernel", i));
    daemon.explanation.add_nodes()->set_index(i);
  }
  daemon.explanation.mutable_compiled()->set_device("cpu:0");

  EXPECT_THAT(*client.ListGraphs(), SizeIs(5));
  EXPECT_EQ(daemon.page_count(), 3);
  const auto kernels = *client.ListKernels();
  ASSERT_THAT(kernels, SizeIs(5));
  EXPECT_EQ(kernels[4].name(), "kernel4");
  const auto explained = *client.ExplainGraph({});
  ASSERT_EQ(explained.nodes_size(), 5);
  EXPECT_EQ(explained.nodes(4).index(), 4);
  EXPECT_EQ(explained.compiled().device(), "cpu:0");
  EXPECT_EQ(explained.next_page_token(), "");
  EXPECT_EQ(daemon.page_count(), 9);
}

TEST(Client, RunsAGraph) {
  FakeDaemon daemon;
  daemon.graph.add_outputs()->set_name("y");
  auto client = ConnectTo(daemon);
  v1::ExecuteRequest request;
  request.set_graph_id("g");
  v1::ExecuteInput& input = *request.add_inputs();
  input.set_name("x");
  *input.mutable_tensor() = MakeTensor<float>({2}, {1.5f, -2.f});
  const auto response = client.Execute(request);
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->outputs_size(), 1);
  EXPECT_THAT(*TensorValues<float>(response->outputs(0).tensor()),
              ElementsAre(1.5f, -2.f));
  EXPECT_FALSE(TensorValues<int64_t>(response->outputs(0).tensor()).ok());
}

TEST(Client, GetsAndDeletesGraphs) {
  FakeDaemon daemon;
  auto client = ConnectTo(daemon);
  const std::string id =
      client.SubmitGraph(v1::GRAPH_FORMAT_ONNX, "m")->graph_id();
  EXPECT_EQ(client.GetGraph(id)->graph_id(), id);
  EXPECT_TRUE(client.DeleteGraph(id).ok());
  EXPECT_EQ(client.GetGraph(id).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(client.DeleteGraph(id).code(), absl::StatusCode::kNotFound);
}

TEST(Client, ReadsAndConfiguresTheProfile) {
  FakeDaemon daemon;
  daemon.profile.add_rows()->set_op("Conv");
  auto client = ConnectTo(daemon);
  EXPECT_EQ(client.GetOpProfile()->rows(0).op(), "Conv");
  v1::ConfigureOpProfileRequest request;
  request.set_mode(v1::OP_PROFILE_MODE_FULL);
  EXPECT_EQ(client.ConfigureOpProfile(request)->mode(),
            v1::OP_PROFILE_MODE_FULL);
}

TEST(Client, AsksForHealth) {
  FakeDaemon daemon;
  auto client = ConnectTo(daemon);
  EXPECT_EQ(*client.Health(), grpc::health::v1::HealthCheckResponse::SERVING);
  EXPECT_EQ(client.Health("no.such.Service").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(Client, ServesManyThreads) {
  FakeDaemon daemon;
  auto client = ConnectTo(daemon);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&client, t] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(
            client.SubmitGraph(v1::GRAPH_FORMAT_ONNX, absl::StrCat(t, "/", i))
                .ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(daemon.submissions(), SizeIs(160));
}

}  // namespace
}  // namespace tensord
