#ifndef TENSORD_TESTS_SERVER_SUPPORT_SERVER_TEST_H_
#define TENSORD_TESTS_SERVER_SUPPORT_SERVER_TEST_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/api/backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/engine.h"
#include "engine/profile/op_profile.h"
#include "engine/profile/phase_profile.h"
#include "google/rpc/status.pb.h"
#include "server/config/server_config.h"
#include "server/log/server_logger.h"
#include "server/rpc/rpc_server.h"
#include "tensord/v1/execution_service.pb.h"
#include "tensord/v1/graph.pb.h"
#include "tensord/v1/graph_service.pb.h"

namespace tensord {

// The real server with the real engine, on cpu:0 and null:0 and a free port of
// this machine, and a client that calls it by method names.
//
// Set config_ before StartServer().
class ServerTest : public ::testing::Test {
 protected:
  ServerTest();
  ~ServerTest() override;

  // Backends beside cpu and null, for tests that need to hold a device.
  virtual std::vector<Backend*> MoreBackends() { return {}; }

  void StartServer();
  void StopServer();

  // "/tensord.v1.GraphService/SubmitGraph".
  grpc::Status Call(const std::string& method, const grpc::ByteBuffer& request,
                    grpc::ByteBuffer* response,
                    grpc::ClientContext* context = nullptr);
  grpc::Status Call(const std::string& method,
                    const google::protobuf::Message& request,
                    google::protobuf::Message& response,
                    grpc::ClientContext* context = nullptr);
  grpc::Status CallBytes(const std::string& method, const std::string& bytes,
                         std::string* response = nullptr);

  // A graph of one node on float32 [2], input "x", output "y".
  static v1::Graph IdentityGraph(const std::string& name = "identity");
  static v1::Graph ReluGraph();  // Identity launches nothing, this one does
  // Submits it, and gives its id; fails the test if it is refused.
  std::string Submit(const v1::Graph& graph);
  // Runs it on `device` with x = {1, 2}.
  static v1::ExecuteRequest IdentityRequest(const std::string& graph_id,
                                            const std::string& device);

  // What was logged so far.
  std::string log_lines() const;

  ServerConfig config_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Holdings> holdings_;
  std::unique_ptr<RpcServer> server_;
  op_profile::OpProfile profile_;
  op_profile::PhaseProfile phases_;
  metrics::RequestMetrics requests_;
  metrics::ExecutionMetrics executions_;
  EngineObserver observer_;
  ActiveCalls active_calls_;

 private:
  struct Lines;

  std::unique_ptr<Lines> lines_;
  std::unique_ptr<ServerLogger> log_;
  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> cpu_;
  std::unique_ptr<Backend> null_;
};

// The first detail of this type; nothing when there is none.
template <typename Detail>
std::optional<Detail> DetailOf(const grpc::Status& status) {
  google::rpc::Status rpc;
  if (!rpc.ParseFromString(status.error_details())) return std::nullopt;
  for (const auto& any : rpc.details()) {
    Detail detail;
    if (any.UnpackTo(&detail)) return detail;
  }
  return std::nullopt;
}

// ErrorInfo's reason; empty when there is none.
std::string ReasonOf(const grpc::Status& status);

grpc::ByteBuffer ToBuffer(const std::string& bytes);
std::string ToString(const grpc::ByteBuffer& buffer);

}  // namespace tensord

#endif  // TENSORD_TESTS_SERVER_SUPPORT_SERVER_TEST_H_
