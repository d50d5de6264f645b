// What the server does whatever the service: limits, features that are not
// there, reflection, health, draining.

#include <gmock/gmock.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/support/sync_stream.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "google/rpc/error_details.pb.h"
#include "grpc/health/v1/health.pb.h"
#include "server/rpc/api_services.h"
#include "server/wire/wire_reader.h"
#include "server/wire/wire_writer.h"
#include "tensord/v1/device_service.pb.h"
#include "tensord/v1/errors.pb.h"
#include "tensord/v1/profile_service.pb.h"
#include "tensord/v1/session_service.pb.h"
#include "tensord/v1/tensor_service.grpc.pb.h"
#include "tests/server/support/server_test.h"

namespace tensord {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;
using ::testing::HasSubstr;

constexpr char kExecute[] = "/tensord.v1.ExecutionService/Execute";
constexpr char kCheck[] = "/grpc.health.v1.Health/Check";

class ServerBehaviourTest : public ServerTest {
 protected:
  void SetUp() override {
    config_.max_message_bytes = 1 << 20;
    StartServer();
  }

  // tensord_rejections_total by reason.
  std::map<std::string, double> Rejections() {
    metrics::SeriesBudget budget(1000);
    metrics::Page page(budget);
    executions_.Collect(page);
    std::map<std::string, double> rejections;
    for (const auto& family : std::move(page).Finish()) {
      if (family.name != "tensord_rejections_total") continue;
      for (const auto& metric : family.metric) {
        rejections[metric.label[0].value] = metric.counter.value;
      }
    }
    return rejections;
  }

  HealthCheckResponse::ServingStatus Health(const std::string& service) {
    HealthCheckRequest request;
    request.set_service(service);
    HealthCheckResponse response;
    const grpc::Status status = Call(kCheck, request, response);
    EXPECT_TRUE(status.ok()) << service << ": " << status.error_message();
    return response.status();
  }
};

TEST_F(ServerBehaviourTest, AMessageOverTheLimitIsToldWithSideAndFlag) {
  for (const char* method : {kExecute, "/tensord.v1.GraphService/SubmitGraph",
                             "/tensord.v1.DeviceService/ListDevices"}) {
    for (const size_t size : {(size_t{1} << 20) + 1, size_t{64} << 20}) {
      const grpc::Status status = CallBytes(method, std::string(size, '\0'));
      EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
      EXPECT_THAT(status.error_message(), HasSubstr("received message"));
      EXPECT_THAT(status.error_message(), HasSubstr("--max-message-bytes"));
      EXPECT_THAT(status.error_message(), HasSubstr(std::to_string(size)));
      const auto detail = DetailOf<v1::LimitExceeded>(status);
      ASSERT_TRUE(detail.has_value());
      EXPECT_EQ(detail->maximum(), 1 << 20);
      EXPECT_EQ(detail->scope(), "received message");
    }
  }
  EXPECT_EQ(Rejections().at("message_size"), 6);
}

TEST_F(ServerBehaviourTest, OutputsOverTheLimitAreToldAsSent) {
  v1::Graph graph = IdentityGraph("wide");
  graph.mutable_inputs(0)->mutable_dims(0)->set_size(1 << 17);
  for (int i = 0; i < 2; ++i) {
    v1::Node& node = *graph.add_nodes();
    node.set_op("Identity");
    node.add_inputs("x");
    node.add_outputs("z" + std::to_string(i));
    graph.add_outputs("z" + std::to_string(i));
  }
  v1::ExecuteRequest request = IdentityRequest(Submit(graph), "null:0");
  request.mutable_inputs(0)->mutable_tensor()->set_dims(0, 1 << 17);
  request.mutable_inputs(0)->mutable_tensor()->set_data(
      std::string(4 << 17, '\0'));
  v1::ExecuteResponse response;
  const grpc::Status status = Call(kExecute, request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailOf<v1::LimitExceeded>(status)->scope(), "sent message");
}

TEST_F(ServerBehaviourTest, ACompressedMessageIsRefusedBeforeItIsUnpacked) {
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  grpc::ByteBuffer response;
  const grpc::Status status = Call(
      kExecute, ToBuffer(std::string(100 << 20, '\0')), &response, &context);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

// Every unary method of the API is there; streams have tests of their own.
// Negative control: a method that is not in the API.
TEST_F(ServerBehaviourTest, EveryMethodOfTheApiIsThere) {
  int method_count = 0;
  for (const auto* service : ApiServices()) {
    for (int i = 0; i < service->method_count(); ++i) {
      const auto& method = *service->method(i);
      if (method.client_streaming() || method.server_streaming()) continue;
      ++method_count;
      const std::string path = "/" + service->full_name() + "/" + method.name();
      EXPECT_NE(CallBytes(path, "").error_code(),
                grpc::StatusCode::UNIMPLEMENTED)
          << path;
    }
  }
  EXPECT_GT(method_count, 20);
  const grpc::Status status = CallBytes("/tensord.v1.GraphService/Nope", "");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(ReasonOf(status), "");
}

TEST_F(ServerBehaviourTest, RandomBytesAreMalformedForEveryMethod) {
  for (const char* method : {"/tensord.v1.GraphService/SubmitGraph",
                             "/tensord.v1.GraphService/GetGraph",
                             "/tensord.v1.DeviceService/ListKernels",
                             "/tensord.v1.ProfileService/GetOpProfile",
                             "/tensord.v1.ExecutionService/StartExecution",
                             "/tensord.v1.ExecutionService/WaitExecution",
                             "/tensord.v1.SessionService/CreateSession",
                             "/tensord.v1.TensorService/GetTensor"}) {
    const grpc::Status status = CallBytes(method, "\xff\xff\xff\xff");
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(ReasonOf(status), "MALFORMED_MESSAGE") << method;
  }
}

// The answer to "*" of grpc.reflection.v1alpha, read by hand: that file is not
// among ours. ServerReflectionResponse.list_services_response (6).service
// (1).name (1).
std::set<std::string> ServicesOf(const std::string& response) {
  const absl::string_view segment(response);
  WireReader reader(absl::MakeConstSpan(&segment, 1));
  std::set<std::string> names;
  WireReader::Tag tag;
  size_t outer, inner;
  while (!reader.AtEnd() && reader.ReadTag(tag)) {
    if (tag.field != 6) {
      reader.SkipValue(tag);
      continue;
    }
    reader.Enter(outer);
    while (!reader.AtEnd() && reader.ReadTag(tag)) {
      std::string name;
      reader.Enter(inner);
      if (reader.ReadTag(tag) && reader.ReadString(1000, name)) {
        names.insert(name);
      }
      reader.Leave(inner);
    }
    reader.Leave(outer);
  }
  return names;
}

TEST_F(ServerBehaviourTest, ReflectionListsEveryService) {
  const grpc::internal::RpcMethod method(
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      grpc::internal::RpcMethod::BIDI_STREAMING);
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>>
      stream(grpc::internal::ClientReaderWriterFactory<
             grpc::ByteBuffer, grpc::ByteBuffer>::Create(channel_.get(), method,
                                                         &context));
  std::string request;
  WireWriter(request).Bytes(7, "*");  // list_services
  ASSERT_TRUE(stream->Write(ToBuffer(request)));
  grpc::ByteBuffer response;
  ASSERT_TRUE(stream->Read(&response));
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  const std::set<std::string> names = ServicesOf(ToString(response));
  for (const auto* service : ApiServices()) {
    EXPECT_TRUE(names.count(service->full_name())) << service->full_name();
  }
  EXPECT_TRUE(names.count("grpc.health.v1.Health"));
  EXPECT_FALSE(names.count("inference.GRPCInferenceService"));
}

TEST_F(ServerBehaviourTest, HealthKnowsTheServicesAndNoOthers) {
  EXPECT_EQ(Health(""), HealthCheckResponse::SERVING);
  for (const auto* service : ApiServices()) {
    EXPECT_EQ(Health(service->full_name()), HealthCheckResponse::SERVING);
  }
  HealthCheckRequest request;
  request.set_service("nobody");
  HealthCheckResponse response;
  EXPECT_EQ(Call(kCheck, request, response).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServerBehaviourTest, AHealthWatchSeesTheDrain) {
  const grpc::internal::RpcMethod method(
      "/grpc.health.v1.Health/Watch",
      grpc::internal::RpcMethod::SERVER_STREAMING);
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> watch(
      grpc::internal::ClientReaderFactory<HealthCheckResponse>::Create(
          channel_.get(), method, &context, HealthCheckRequest()));
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  server_->StopServing();
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(Health(""), HealthCheckResponse::NOT_SERVING);
  context.TryCancel();
  watch->Finish();
}

TEST_F(ServerBehaviourTest, WithoutAHealthyDeviceItIsNotReady) {
  const grpc::internal::RpcMethod method(
      "/grpc.health.v1.Health/Watch",
      grpc::internal::RpcMethod::SERVER_STREAMING);
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> watch(
      grpc::internal::ClientReaderFactory<HealthCheckResponse>::Create(
          channel_.get(), method, &context, HealthCheckRequest()));
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  v1::Device device;
  v1::DrainDeviceRequest drain;
  for (const char* name : {"cpu:0", "null:0"}) {
    drain.set_device(name);
    ASSERT_TRUE(
        Call("/tensord.v1.DeviceService/DrainDevice", drain, device).ok());
  }
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  v1::ResumeDeviceRequest resume;
  resume.set_device("cpu:0");
  ASSERT_TRUE(
      Call("/tensord.v1.DeviceService/ResumeDevice", resume, device).ok());
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  context.TryCancel();
  watch->Finish();
}

TEST_F(ServerBehaviourTest, WhenDrainingItTakesNoRunsAndEndsInTime) {
  const std::string id = Submit(IdentityGraph());
  engine_->StopAccepting();
  v1::ExecuteResponse response;
  const grpc::Status status = Call(kExecute, IdentityRequest(id, ""), response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "DRAINING");
  EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(status).has_value());
  EXPECT_EQ(Rejections().at("draining"), 1);
  EXPECT_TRUE(server_->Shutdown(absl::Now() + absl::Seconds(5)));
}

TEST_F(ServerBehaviourTest, WhenDrainingItHoldsNothingNew) {
  server_->StopAdmitting();
  v1::Session session;
  const grpc::Status status = Call("/tensord.v1.SessionService/CreateSession",
                                   v1::CreateSessionRequest(), session);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "DRAINING");

  grpc::ClientContext context;
  v1::TensorInfo response;
  const auto tensors = v1::TensorService::NewStub(channel_);
  const auto upload = tensors->UploadTensor(&context, &response);
  v1::UploadTensorRequest request;
  request.mutable_header()->set_dtype(v1::DTYPE_FLOAT32);
  upload->Write(request);
  upload->WritesDone();
  const grpc::Status refused = upload->Finish();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(refused), "DRAINING");
}

TEST_F(ServerBehaviourTest, EchoIsThereOnlyWhenAskedFor) {
  std::string answer;
  EXPECT_EQ(CallBytes("/tensord.bench.v1.Echo/Echo", "x").error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  StopServer();
  config_.enable_echo_for_benchmarks = true;
  StartServer();
  ASSERT_TRUE(CallBytes("/tensord.bench.v1.Echo/Echo", "hello", &answer).ok());
  EXPECT_EQ(answer, "hello");
  ASSERT_TRUE(CallBytes("/tensord.bench.v1.Echo/Discard", "hi", &answer).ok());
  EXPECT_EQ(answer, "");
}

TEST_F(ServerBehaviourTest, PooledEchoAnswersFromAnotherBuffer) {
  StopServer();
  config_.enable_echo_for_benchmarks = true;
  StartServer();
  const auto echo = [this](const std::string& bytes) {
    std::string answer;
    EXPECT_TRUE(
        CallBytes("/tensord.bench.v1.Echo/PooledEcho", bytes, &answer).ok());
    return answer;
  };
  EXPECT_EQ(echo("hello"), std::string(5, '\0'));
  EXPECT_EQ(echo("world"), "hello");
  EXPECT_EQ(echo("!"), std::string(1, '\0'));
  EXPECT_EQ(echo(""), "");
}

TEST_F(ServerBehaviourTest, AnAddressThatIsTakenIsAnErrorWithItsName) {
  config_.listen = {server_->addresses()[0]};
  const ServerConfig config = config_;
  ServerLogger log({.level = LogSeverity::kError});
  const auto second = RpcServer::Start({.config = config,
                                        .engine = *engine_,
                                        .holdings = *holdings_,
                                        .profile = profile_,
                                        .phases = phases_,
                                        .requests = requests_,
                                        .executions = executions_,
                                        .observer = observer_,
                                        .active_calls = active_calls_,
                                        .log = log});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(config.listen[0]));
}

TEST_F(ServerBehaviourTest, RequestsAreCountedByMethodAndCode) {
  v1::ListDevicesResponse devices;
  ASSERT_TRUE(Call("/tensord.v1.DeviceService/ListDevices",
                   v1::ListDevicesRequest(), devices)
                  .ok());
  CallBytes(kExecute, "\xff");
  metrics::SeriesBudget budget(10'000);
  metrics::Page page(budget);
  requests_.Collect(page);
  std::set<std::string> seen;
  for (const auto& family : std::move(page).Finish()) {
    if (family.name != "tensord_requests_total") continue;
    for (const auto& metric : family.metric) {
      seen.insert(metric.label[1].value + " " + metric.label[2].value);
    }
  }
  EXPECT_TRUE(seen.count("ListDevices OK")) << ::testing::PrintToString(seen);
  EXPECT_TRUE(seen.count("Execute INVALID_ARGUMENT"));
}

}  // namespace
}  // namespace tensord
