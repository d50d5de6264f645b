#ifndef TENSORD_SERVER_RPC_RPC_SERVER_H_
#define TENSORD_SERVER_RPC_RPC_SERVER_H_

#include <grpcpp/server.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "server/rpc/execute_stream.h"
#include "server/rpc/graph_submitter.h"
#include "server/rpc/raw_service.h"
#include "server/rpc/readiness.h"
#include "server/rpc/recorded_runs.h"
#include "server/rpc/service_environment.h"

namespace tensord {

// The gRPC server with all its services, health and reflection, on every
// address of the configuration.
//
// Threading: gRPC's callback threads run the handlers; the methods here are for
//   one thread.
// Ownership: owns the services; what the environment refers to outlives it, and
//   so do buffers of answers that are still being written: the destructor waits
//   for them, up to a few seconds.
class RpcServer {
 public:
  // kUnavailable when it cannot listen on one of the addresses.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      const ServiceEnvironment& environment);
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  // Where it listens, with the ports that were free for port 0.
  const std::vector<std::string>& addresses() const { return addresses_; }

  // Health says NOT_SERVING; calls are still taken.
  void StopServing() { readiness_->StopServing(); }

  // Sessions and uploads are refused from now on, with DRAINING, as runs are
  // once the engine accepts none.
  void StopAdmitting() { environment_.holdings.StopAdmitting(); }

  // Waits until clients that are refused have gone elsewhere, a tenth of a
  // second without a call or two seconds. Then takes no new calls, tells
  // clients to go elsewhere (GOAWAY), and waits for the calls under way: false
  // when some were still there at `deadline`, and are cancelled. Then waits, a
  // few seconds at most, until clients have read their answers, so that the
  // process may end. Once.
  bool Shutdown(absl::Time deadline);

 private:
  explicit RpcServer(const ServiceEnvironment& environment);
  absl::Status Listen();

  const ServiceEnvironment environment_;
  GraphSubmitter submitter_;
  RecordedRuns runs_;
  OpenStreams streams_;
  std::vector<std::unique_ptr<RawService>> services_;
  std::vector<std::string> addresses_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Readiness> readiness_;
  std::thread shutdown_;
  absl::Notification has_shut_down_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_RPC_SERVER_H_
