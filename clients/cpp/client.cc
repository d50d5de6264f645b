#include "clients/cpp/client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <utility>

#include "absl/strings/match.h"
#include "clients/cpp/connection.h"

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
  const auto channel =
      grpc::CreateCustomChannel(std::string(address), credentials, arguments);

  auto connection = std::make_unique<Connection>();
  connection->options = std::move(options);
  connection->graphs = v1::GraphService::NewStub(channel);
  connection->executions = v1::ExecutionService::NewStub(channel);
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
  return Unary(*connection_->graphs, &v1::GraphService::Stub::GetGraph, request,
               connection_->DeadlineOf(call));
}

absl::StatusOr<std::vector<v1::GraphInfo>> Client::ListGraphs(
    const CallOptions& call) {
  const absl::Time deadline = connection_->DeadlineOf(call);
  std::vector<v1::GraphInfo> graphs;
  v1::ListGraphsRequest request;
  request.set_page_size(1000);
  do {
    auto page = Unary(*connection_->graphs, &v1::GraphService::Stub::ListGraphs,
                      request, deadline);
    if (!page.ok()) return page.status();
    for (v1::GraphInfo& graph : *page->mutable_graphs()) {
      graphs.push_back(std::move(graph));
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return graphs;
}

absl::Status Client::DeleteGraph(absl::string_view graph_id,
                                 const CallOptions& call) {
  v1::DeleteGraphRequest request;
  request.set_graph_id(std::string(graph_id));
  return Unary(*connection_->graphs, &v1::GraphService::Stub::DeleteGraph,
               request, connection_->DeadlineOf(call))
      .status();
}

absl::StatusOr<v1::ExplainGraphResponse> Client::ExplainGraph(
    v1::ExplainGraphRequest request, const CallOptions& call) {
  const absl::Time deadline = connection_->DeadlineOf(call);
  const auto next_page = [&] {
    return Unary(*connection_->graphs, &v1::GraphService::Stub::ExplainGraph,
                 request, deadline);
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

absl::StatusOr<v1::ExecuteResponse> Client::Execute(
    const v1::ExecuteRequest& request, const CallOptions& call) {
  return Unary(*connection_->executions, &v1::ExecutionService::Stub::Execute,
               request, connection_->DeadlineOf(call));
}

absl::StatusOr<v1::ListDevicesResponse> Client::ListDevices(
    const v1::ListDevicesRequest& request, const CallOptions& call) {
  return Unary(*connection_->devices, &v1::DeviceService::Stub::ListDevices,
               request, connection_->DeadlineOf(call));
}

absl::StatusOr<std::vector<v1::Kernel>> Client::ListKernels(
    v1::ListKernelsRequest request, const CallOptions& call) {
  const absl::Time deadline = connection_->DeadlineOf(call);
  std::vector<v1::Kernel> kernels;
  do {
    auto page = Unary(*connection_->devices,
                      &v1::DeviceService::Stub::ListKernels, request, deadline);
    if (!page.ok()) return page.status();
    for (v1::Kernel& kernel : *page->mutable_kernels()) {
      kernels.push_back(std::move(kernel));
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return kernels;
}

absl::StatusOr<v1::OpProfile> Client::GetOpProfile(
    const v1::GetOpProfileRequest& request, const CallOptions& call) {
  return Unary(*connection_->profile, &v1::ProfileService::Stub::GetOpProfile,
               request, connection_->DeadlineOf(call));
}

absl::StatusOr<v1::OpProfileConfig> Client::ConfigureOpProfile(
    const v1::ConfigureOpProfileRequest& request, const CallOptions& call) {
  return Unary(*connection_->profile,
               &v1::ProfileService::Stub::ConfigureOpProfile, request,
               connection_->DeadlineOf(call));
}

absl::StatusOr<grpc::health::v1::HealthCheckResponse::ServingStatus>
Client::Health(absl::string_view service, const CallOptions& call) {
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(std::string(service));
  auto response =
      Unary(*connection_->health, &grpc::health::v1::Health::Stub::Check,
            request, connection_->DeadlineOf(call));
  if (!response.ok()) return response.status();
  return response->status();
}

}  // namespace tensord
