#include "clients/cpp/client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <utility>

#include "absl/strings/match.h"
#include "clients/cpp/connection.h"
#include "clients/cpp/trace_interceptor.h"

namespace tensord {
namespace {

bool IsThisMachine(absl::string_view address) {
  return absl::StartsWith(address, "127.") ||
         absl::StartsWith(address, "[::1]") ||
         absl::StartsWith(address, "localhost:") ||
         absl::StartsWith(address, "unix:");
}

}  // namespace

absl::StatusOr<Client> Client::Connect(absl::string_view address,
                                       ClientOptions options) {
  if (address.empty()) {
    return absl::InvalidArgumentError(
        "the address is empty; it should be host:port or unix:/path");
  }
  grpc::ChannelArguments arguments;
  // The daemon bounds what it sends; a second limit here would only have to be
  // kept equal to it.
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // The daemon keeps sessions by connection, so clients do not share one.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A proxy (http_proxy in the environment) cannot reach this very machine.
  if (IsThisMachine(address)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  auto credentials = options.credentials;
  if (credentials == nullptr) credentials = grpc::InsecureChannelCredentials();
  const auto channel = grpc::experimental::CreateCustomChannelWithInterceptors(
      std::string(address), credentials, arguments,
      TraceInterceptors(options.traceparent));

  auto connection = std::make_unique<Connection>();
  connection->options = std::move(options);
  connection->graphs = v1::GraphService::NewStub(channel);
  connection->executions = v1::ExecutionService::NewStub(channel);
  connection->sessions = v1::SessionService::NewStub(channel);
  connection->tensors = v1::TensorService::NewStub(channel);
  connection->devices = v1::DeviceService::NewStub(channel);
  connection->profile = v1::ProfileService::NewStub(channel);
  connection->health = grpc::health::v1::Health::NewStub(channel);
  return Client(std::move(connection));
}

Client::Client(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

absl::StatusOr<v1::GraphInfo> Client::GetGraph(absl::string_view graph_id,
                                               const CallOptions& call) {
  v1::GetGraphRequest request;
  request.set_graph_id(std::string(graph_id));
  return connection_->Call(*connection_->graphs,
                           &v1::GraphService::Stub::GetGraph, request, call);
}

absl::StatusOr<std::vector<v1::GraphInfo>> Client::ListGraphs(
    const CallOptions& call) {
  v1::ListGraphsRequest request;
  request.set_page_size(1000);
  return connection_->Pages(
      *connection_->graphs, &v1::GraphService::Stub::ListGraphs,
      std::move(request), &v1::ListGraphsResponse::mutable_graphs, call);
}

absl::Status Client::DeleteGraph(absl::string_view graph_id,
                                 const CallOptions& call) {
  v1::DeleteGraphRequest request;
  request.set_graph_id(std::string(graph_id));
  return connection_
      ->Call(*connection_->graphs, &v1::GraphService::Stub::DeleteGraph,
             request, call)
      .status();
}

absl::StatusOr<v1::ExplainGraphResponse> Client::ExplainGraph(
    v1::ExplainGraphRequest request, const CallOptions& call) {
  const absl::Time deadline = connection_->DeadlineOf(call);
  const auto next_page = [&] {
    return WithRetries(connection_->RetryOf(call), Repeat::kAlways, deadline,
                       [&] {
                         return Unary(*connection_->graphs,
                                      &v1::GraphService::Stub::ExplainGraph,
                                      request, deadline);
                       });
  };
  auto all = next_page();
  while (all.ok() && !all->next_page_token().empty()) {
    request.set_page_token(all->next_page_token());
    auto page = next_page();
    if (!page.ok()) return page.status();
    for (v1::ExplainedNode& node : *page->mutable_nodes()) {
      *all->add_nodes() = std::move(node);
    }
    all->set_next_page_token(page->next_page_token());
  }
  return all;
}

absl::StatusOr<v1::ListDevicesResponse> Client::ListDevices(
    const v1::ListDevicesRequest& request, const CallOptions& call) {
  return connection_->Call(*connection_->devices,
                           &v1::DeviceService::Stub::ListDevices, request,
                           call);
}

absl::StatusOr<std::vector<v1::Kernel>> Client::ListKernels(
    v1::ListKernelsRequest request, const CallOptions& call) {
  return connection_->Pages(
      *connection_->devices, &v1::DeviceService::Stub::ListKernels,
      std::move(request), &v1::ListKernelsResponse::mutable_kernels, call);
}

absl::StatusOr<v1::OpProfile> Client::GetOpProfile(
    const v1::GetOpProfileRequest& request, const CallOptions& call) {
  return connection_->Call(*connection_->profile,
                           &v1::ProfileService::Stub::GetOpProfile, request,
                           call);
}

absl::StatusOr<v1::OpProfileConfig> Client::ConfigureOpProfile(
    const v1::ConfigureOpProfileRequest& request, const CallOptions& call) {
  return connection_->Call(*connection_->profile,
                           &v1::ProfileService::Stub::ConfigureOpProfile,
                           request, call);
}

absl::Status Client::WatchOpProfile(
    const v1::WatchOpProfileRequest& request,
    const std::function<bool(const v1::OpProfile&)>& seen,
    const CallOptions& call) {
  grpc::ClientContext context;
  if (call.timeout > absl::ZeroDuration()) {
    SetDeadline(context, absl::Now() + call.timeout);
  }
  const auto reader = connection_->profile->WatchOpProfile(&context, request);
  v1::OpProfile profile;
  bool is_wanted = true;
  while (is_wanted && reader->Read(&profile)) is_wanted = seen(profile);
  if (!is_wanted) context.TryCancel();
  const grpc::Status status = reader->Finish();
  return is_wanted ? StatusFromGrpc(status) : absl::OkStatus();
}

absl::StatusOr<grpc::health::v1::HealthCheckResponse::ServingStatus>
Client::Health(absl::string_view service, const CallOptions& call) {
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(std::string(service));
  auto response =
      connection_->Call(*connection_->health,
                        &grpc::health::v1::Health::Stub::Check, request, call);
  if (!response.ok()) return response.status();
  return response->status();
}

}  // namespace tensord
