#include "server/rpc/rpc_server.h"

#include <google/protobuf/stubs/logging.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "server/rpc/device_service.h"
#include "server/rpc/echo_service.h"
#include "server/rpc/execution_service.h"
#include "server/rpc/graph_service.h"
#include "server/rpc/profile_service.h"
#include "server/rpc/session_service.h"
#include "server/rpc/tensor_service.h"

namespace tensord {
namespace {

// Against hostile HTTP/2: headers, idle connections, floods of pings.
constexpr int kMaxMetadataBytes = 16 << 10;
constexpr int kHandshakeTimeoutMs = 20'000;
constexpr int kKeepaliveTimeMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
constexpr int kMinPingIntervalMs = 10'000;
constexpr int kMaxPingStrikes = 3;

// What a call may take beside its wait or its run before an old connection
// goes.
constexpr absl::Duration kAgeGraceSlack = absl::Seconds(30);

// How long a client may take to acknowledge the end of its connection. One that
// lets it lie idle looks at it every five seconds.
constexpr absl::Duration kLastReadTime = absl::Seconds(5);

// The end: for how long no call must have come, and how long that is waited for
// while clients keep coming all the same.
constexpr absl::Duration kQuiet = absl::Milliseconds(100);
constexpr absl::Duration kLongestRefusal = absl::Seconds(2);

// How long buffers of answers may still be with the transport afterwards.
constexpr absl::Duration kBufferReturnTime = absl::Seconds(5);

// gRPC's plugins are a list of the process, so they are put there once.
void InitPlugins() {
  static const bool is_done = [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    // It would write a line of its own for every text that is no UTF-8.
    google::protobuf::SetLogHandler(nullptr);
    return true;
  }();
  static_cast<void>(is_done);
}

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(std::min<int64_t>(absl::ToInt64Milliseconds(duration),
                                            std::numeric_limits<int>::max()));
}

void Configure(const ServerConfig& config, grpc::ServerBuilder& builder) {
  // Messages are measured by the handlers, so that the refusal can say which
  // flag it is about. gRPC 1.51 has a whole message in memory before it looks
  // at its own limit (1 GB resident for a message of 1 GB against a limit of
  // 64 MiB), so nothing is lost. What bounds memory is the quota: above it
  // gRPC resets the stream, which a client sees as RESOURCE_EXHAUSTED with no
  // more of a text than HTTP/2's ENHANCE_YOUR_CALM.
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  grpc::ResourceQuota quota("tensord");
  quota.Resize(static_cast<size_t>(config.max_ingress_bytes));
  builder.SetResourceQuota(quota);
  // A compressed message would be measured before it is unpacked.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             static_cast<int>(config.max_concurrent_streams));
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      kMinPingIntervalMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, kMaxPingStrikes);
  if (config.max_connection_age > absl::ZeroDuration()) {
    const absl::Duration grace =
        std::max(config.max_wait_time, config.engine.max_queue_time +
                                           config.engine.max_execution_time) +
        kAgeGraceSlack;
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                               Milliseconds(config.max_connection_age));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                               Milliseconds(grace));
  }
  // Two daemons on one port would share its connections at random.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

std::string BoundAddress(const std::string& address, int port) {
  if (absl::StartsWith(address, "unix:")) return address;
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
}

}  // namespace

RpcServer::RpcServer(const ServiceEnvironment& environment)
    : environment_(environment), submitter_(environment_), runs_(environment_) {
  services_.push_back(MakeDeviceService(environment_));
  services_.push_back(
      MakeExecutionService(environment_, submitter_.facts(), runs_, streams_));
  services_.push_back(MakeGraphService(environment_, submitter_));
  services_.push_back(MakeProfileService(environment_));
  services_.push_back(MakeSessionService(environment_));
  services_.push_back(MakeTensorService(environment_));
  if (environment_.config.enable_echo_for_benchmarks) {
    services_.push_back(MakeEchoService(environment_));
  }
}

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    const ServiceEnvironment& environment) {
  InitPlugins();
  auto server = std::unique_ptr<RpcServer>(new RpcServer(environment));
  if (absl::Status status = server->Listen(); !status.ok()) return status;
  return server;
}

absl::Status RpcServer::Listen() {
  const ServerConfig& config = environment_.config;
  grpc::ServerBuilder builder;
  Configure(config, builder);
  std::vector<int> ports(config.listen.size(), 0);
  for (size_t i = 0; i < config.listen.size(); ++i) {
    builder.AddListeningPort(config.listen[i],
                             grpc::InsecureServerCredentials(), &ports[i]);
  }
  for (const auto& service : services_) builder.RegisterService(service.get());
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    return absl::UnavailableError(absl::StrCat(
        "--listen: cannot listen on ", absl::StrJoin(config.listen, ", "),
        "; is another process there, and may this one?"));
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    addresses_.push_back(BoundAddress(config.listen[i], ports[i]));
  }
  std::vector<std::string> names = {""};
  for (const auto& service : services_) names.push_back(service->full_name());
  readiness_ = std::make_unique<Readiness>(
      environment_.engine, environment_.log, *server_->GetHealthCheckService(),
      std::move(names));
  return absl::OkStatus();
}

bool RpcServer::Shutdown(absl::Time deadline) {
  const ActiveCalls& calls = environment_.active_calls;
  streams_.Drain();
  // Behind a GOAWAY gRPC closes a connection as soon as its last answer is in
  // the socket. Megabytes of it may still be there, and are dropped by the
  // first thing that the client sends to a socket that is closed. One that
  // comes behind the answers is acknowledged by a client who has read them.
  // Half of the time is for them, since downloads may go on for as long.
  const absl::Time now = absl::Now();
  calls.AwaitSent(std::min(now + (deadline - now) / 2, deadline));
  // A call that reaches gRPC while it shuts down, and before the client has
  // seen GOAWAY, is reset: the client gets CANCELLED, which tells it nothing.
  // So first everybody who is being refused has the time to go elsewhere.
  calls.AwaitQuiet(kQuiet, std::min(deadline, absl::Now() + kLongestRefusal));
  // On a thread of its own: it also waits for health watches, which nobody
  // ends before the deadline, and there is no need to.
  shutdown_ = std::thread([this, deadline] {
    server_->Shutdown(absl::ToChronoTime(deadline));
    has_shut_down_.Notify();
  });
  const bool is_done = calls.AwaitNone(deadline);
  has_shut_down_.WaitForNotificationWithDeadline(
      std::min(deadline, absl::Now() + kLastReadTime));
  return is_done;
}

RpcServer::~RpcServer() {
  if (server_ == nullptr) return;
  if (!shutdown_.joinable()) Shutdown(absl::Now());
  shutdown_.join();
  readiness_.reset();
  server_->Wait();
  server_.reset();
  environment_.active_calls.AwaitSent(absl::Now() + kBufferReturnTime);
}

}  // namespace tensord
