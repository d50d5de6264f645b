#include "tests/server/support/server_test.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/security/credentials.h>
#include <spdlog/sinks/ostream_sink.h>

#include <sstream>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/null/null_backend.h"
#include "google/rpc/error_details.pb.h"
#include "server/rpc/api_services.h"
#include "server/rpc/make_holdings.h"

namespace tensord {

struct ServerTest::Lines {
  std::ostringstream text;
};

ServerTest::ServerTest()
    : requests_(ApiMethods()), lines_(std::make_unique<Lines>()) {
  config_.listen = {"127.0.0.1:0"};
  config_.metrics_listen.clear();
  config_.device_names = {"cpu:0", "null:0"};
  config_.log_level = LogSeverity::kDebug;
  // Tests count the launches of their devices.
  config_.engine.calibrate_devices = false;
}

ServerTest::~ServerTest() { StopServer(); }

void ServerTest::StartServer() {
  ASSERT_TRUE(Validate(config_).ok()) << Validate(config_);
  log_ = std::make_unique<ServerLogger>(
      ServerLogger::Options{.level = config_.log_level},
      std::make_shared<spdlog::sinks::ostream_sink_mt>(lines_->text));
  const HostServices services = {&workers_, log_.get()};
  cpu_ = MakeCpuBackend(services, {.memory_limit_bytes = 1 << 30});
  null_ = MakeNullBackend(services);
  std::vector<Backend*> backends = {cpu_.get(), null_.get()};
  for (Backend* backend : MoreBackends()) backends.push_back(backend);
  // Every backend has a device here.
  const auto devices = ResolveDevices(config_.devices, [](BackendId) {
    return DeviceCount{1, ""};
  });
  ASSERT_TRUE(devices.ok()) << devices.status();
  auto engine = Engine::Create(config_.engine, backends, *devices, profile_,
                               &phases_, services);
  ASSERT_TRUE(engine.ok()) << engine.status();
  engine_ = *std::move(engine);
  holdings_ = MakeHoldings(config_, *engine_);
  auto server = RpcServer::Start(
      {.config = config_,
       .engine = *engine_,
       .holdings = *holdings_,
       .profile = profile_,
       .phases = phases_,
       .requests = requests_,
       .executions = executions_,
       .observer = observer_,
       .active_calls = active_calls_,
       .log = *log_,
       .build = "test",
       .unavailable_backends = {{BackendId::kCuda, "no driver"}}});
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // Otherwise tests of one process share connections, and so their fate.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  channel_ = grpc::CreateCustomChannel(
      server_->addresses()[0], grpc::InsecureChannelCredentials(), arguments);
}

void ServerTest::StopServer() {
  channel_.reset();
  server_.reset();
  holdings_.reset();
  engine_.reset();
}

grpc::Status ServerTest::Call(const std::string& method,
                              const grpc::ByteBuffer& request,
                              grpc::ByteBuffer* response,
                              grpc::ClientContext* context) {
  grpc::ClientContext own;
  const grpc::internal::RpcMethod rpc(method.c_str(),
                                      grpc::internal::RpcMethod::NORMAL_RPC);
  return grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
      channel_.get(), rpc, context == nullptr ? &own : context, request,
      response);
}

grpc::Status ServerTest::Call(const std::string& method,
                              const google::protobuf::Message& request,
                              google::protobuf::Message& response,
                              grpc::ClientContext* context) {
  grpc::ByteBuffer bytes;
  const grpc::Status status =
      Call(method, ToBuffer(request.SerializeAsString()), &bytes, context);
  if (status.ok()) {
    EXPECT_TRUE(response.ParseFromString(ToString(bytes))) << method;
  }
  return status;
}

grpc::Status ServerTest::CallBytes(const std::string& method,
                                   const std::string& bytes,
                                   std::string* response) {
  grpc::ByteBuffer buffer;
  const grpc::Status status = Call(method, ToBuffer(bytes), &buffer);
  if (response != nullptr && status.ok()) *response = ToString(buffer);
  return status;
}

v1::Graph ServerTest::IdentityGraph(const std::string& name) {
  v1::Graph graph;
  graph.set_name(name);
  graph.set_opset_version(17);
  v1::ValueInfo& input = *graph.add_inputs();
  input.set_name("x");
  input.set_dtype(v1::DTYPE_FLOAT32);
  input.add_dims()->set_size(2);
  v1::Node& node = *graph.add_nodes();
  node.set_op("Identity");
  node.add_inputs("x");
  node.add_outputs("y");
  graph.add_outputs("y");
  return graph;
}

v1::Graph ServerTest::ReluGraph() {
  v1::Graph graph = IdentityGraph("relu");
  graph.mutable_nodes(0)->set_op("Relu");
  return graph;
}

std::string ServerTest::Submit(const v1::Graph& graph) {
  v1::SubmitGraphRequest request;
  *request.mutable_graph() = graph;
  v1::SubmitGraphResponse response;
  const grpc::Status status =
      Call("/tensord.v1.GraphService/SubmitGraph", request, response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.graph_id();
}

v1::ExecuteRequest ServerTest::IdentityRequest(const std::string& graph_id,
                                               const std::string& device) {
  v1::ExecuteRequest request;
  request.set_graph_id(graph_id);
  if (!device.empty()) request.mutable_options()->set_device(device);
  v1::ExecuteInput& input = *request.add_inputs();
  input.set_name("x");
  input.mutable_tensor()->set_dtype(v1::DTYPE_FLOAT32);
  input.mutable_tensor()->add_dims(2);
  const float values[] = {1, 2};
  input.mutable_tensor()->set_data(values, sizeof(values));
  return request;
}

std::string ServerTest::log_lines() const {
  log_->Flush();
  return lines_->text.str();
}

std::string ReasonOf(const grpc::Status& status) {
  const auto info = DetailOf<google::rpc::ErrorInfo>(status);
  return info.has_value() ? info->reason() : "";
}

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

}  // namespace tensord
