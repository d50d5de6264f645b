#ifndef TENSORD_CLIENTS_CPP_CLIENT_H_
#define TENSORD_CLIENTS_CPP_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/cpp/graph_source.h"
#include "clients/cpp/retry.h"
#include "clients/cpp/tensor_transfer.h"
#include "grpc/health/v1/health.pb.h"
#include "tensord/v1/device_service.pb.h"
#include "tensord/v1/execution_service.pb.h"
#include "tensord/v1/graph_service.pb.h"
#include "tensord/v1/profile_service.pb.h"
#include "tensord/v1/session_service.pb.h"
#include "tensord/v1/tensor_service.pb.h"

namespace grpc {
class ChannelCredentials;
}

namespace tensord {

// Where a daemon listens unless it is told otherwise.
inline constexpr char kDefaultAddress[] = "127.0.0.1:8500";

struct ClientOptions {
  // How long a call may take that names no timeout of its own.
  absl::Duration timeout = absl::Seconds(60);

  // A graph whose message is larger is sent by UploadGraph. 64 MiB is the
  // daemon's default; where the daemon has a lower limit, the client notices.
  int64_t max_message_bytes = int64_t{64} << 20;

  // The size of the pieces in which a large graph is sent.
  int64_t upload_chunk_bytes = int64_t{1} << 20;

  // How calls that failed are made again. Which ones: see Client.
  RetryOptions retry;

  // Null: plain text, as a daemon on the loopback address expects. For TLS,
  // grpc::SslCredentials().
  std::shared_ptr<grpc::ChannelCredentials> credentials;

  // The W3C `traceparent` that a call passes on, by which the daemon's log,
  // errors and records of runs name it: asked as each attempt begins, on the
  // thread that makes it. What is no traceparent is not sent. Null: none is.
  std::function<std::string()> traceparent;
};

struct CallOptions {
  // Of the whole call: all pages, chunks and attempts. Zero: ClientOptions'.
  // absl::InfiniteDuration(): none.
  absl::Duration timeout = absl::ZeroDuration();

  // As RetryOptions'. Zero: ClientOptions'.
  int max_attempts = 0;
};

class ExecutionStream;
struct StreamOptions;

// A connection to one daemon. The calls are those of proto/tensord/v1, which
// tells what their fields mean; what this class adds is deadlines, retries,
// pages put together, large graphs uploaded, and errors as absl::Status.
//
// Retries: a call that was refused by a full queue or a draining daemon, or
//   that nobody answered, is made again by RetryOptions. A run is not made
//   again after a failure that leaves open whether it was begun, if a second
//   one would not be as the first (IsSafeToRepeat()).
//   CreateSession, and UploadTensor without a session, may leave one behind
//   that nobody knows; its time to live ends it.
// Threading: every method may be called from any thread, at any time. Methods
//   block until they have their answer, but for those named Async. What they
//   call back runs on a thread of gRPC's, must not block, and must not destroy
//   the client.
// Ownership: the channel ends with the client, and calls of the Async kind that
//   are open then with kCancelled; the destructor waits for their callbacks. A
//   process that sent large messages should end by LeaveProcess()
//   (leave_process.h).
// Errors: the code and the text that the server gave; details are read by
//   ErrorDetail() (error_details.h). kUnavailable: nobody answers at the
//   address. kDeadlineExceeded: the timeout passed.
class Client {
 public:
  // Makes the client; the first call connects, so that a daemon that is not
  // there is that call's kUnavailable. `address`: "host:port" or "unix:/path".
  // kInvalidArgument when it is empty.
  static absl::StatusOr<Client> Connect(absl::string_view address,
                                        ClientOptions options = {});

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // Graphs. `format` says what the bytes are: a serialized v1::Graph, or an
  // ONNX model.
  absl::StatusOr<v1::SubmitGraphResponse> SubmitGraph(
      v1::GraphFormat format, absl::string_view bytes,
      const v1::CompileOptions& compile = {}, const CallOptions& call = {});
  absl::StatusOr<v1::SubmitGraphResponse> SubmitGraph(
      const v1::Graph& graph, const v1::CompileOptions& compile = {},
      const CallOptions& call = {});
  absl::StatusOr<v1::GraphInfo> GetGraph(absl::string_view graph_id,
                                         const CallOptions& call = {});
  absl::StatusOr<std::vector<v1::GraphInfo>> ListGraphs(
      const CallOptions& call = {});
  absl::Status DeleteGraph(absl::string_view graph_id,
                           const CallOptions& call = {});

  // All pages in one answer, so `page_size` only says how they travel.
  absl::StatusOr<v1::ExplainGraphResponse> ExplainGraph(
      v1::ExplainGraphRequest request, const CallOptions& call = {});

  // Runs. With a GraphSource, request.graph_id is set to its own, and a daemon
  // that does not hold the graph gets it, once, within the call.
  absl::StatusOr<v1::ExecuteResponse> Execute(const v1::ExecuteRequest& request,
                                              const CallOptions& call = {});
  absl::StatusOr<v1::ExecuteResponse> Execute(const GraphSource& graph,
                                              v1::ExecuteRequest request,
                                              const CallOptions& call = {});

  // Calls back once, with no attempt but the first. The request is shared, so
  // that one with large tensors may be under way many times.
  using ExecuteCallback =
      absl::AnyInvocable<void(absl::StatusOr<v1::ExecuteResponse>) &&>;
  void ExecuteAsync(std::shared_ptr<const v1::ExecuteRequest> request,
                    ExecuteCallback done, const CallOptions& call = {});

  // For more than one run at a time with little overhead: execution_stream.h.
  // The client outlives it.
  std::unique_ptr<ExecutionStream> OpenStream(const StreamOptions& options);

  // Runs by handle. remote_execution.h puts these together.
  absl::StatusOr<v1::Execution> StartExecution(
      const v1::ExecuteRequest& request, const CallOptions& call = {});
  absl::StatusOr<v1::Execution> StartExecution(const GraphSource& graph,
                                               v1::ExecuteRequest request,
                                               const CallOptions& call = {});
  absl::StatusOr<v1::WaitExecutionResponse> WaitExecution(
      const v1::WaitExecutionRequest& request, const CallOptions& call = {});
  using WaitCallback =
      absl::AnyInvocable<void(absl::StatusOr<v1::WaitExecutionResponse>) &&>;
  void WaitExecutionAsync(const v1::WaitExecutionRequest& request,
                          WaitCallback done, const CallOptions& call = {});
  absl::StatusOr<v1::Execution> GetExecution(absl::string_view execution_id,
                                             const CallOptions& call = {});
  absl::StatusOr<v1::Execution> CancelExecution(absl::string_view execution_id,
                                                const CallOptions& call = {});
  // All pages in one answer.
  absl::StatusOr<std::vector<v1::Execution>> ListExecutions(
      v1::ListExecutionsRequest request = {}, const CallOptions& call = {});

  // Tensors that stay on devices. A transfer that breaks off goes on where it
  // was; only an upload without a session begins anew. A download is checked
  // against the tensor's hash where that is known (kDataLoss).
  absl::StatusOr<v1::TensorInfo> UploadTensor(const v1::Tensor& tensor,
                                              const UploadOptions& options = {},
                                              const CallOptions& call = {});
  absl::StatusOr<v1::Tensor> DownloadTensor(absl::string_view tensor_id,
                                            const DownloadOptions& options = {},
                                            const CallOptions& call = {});
  absl::StatusOr<v1::TensorInfo> GetTensor(absl::string_view tensor_id,
                                           const CallOptions& call = {});
  // All pages in one answer.
  absl::StatusOr<std::vector<v1::TensorInfo>> ListTensors(
      v1::ListTensorsRequest request = {}, const CallOptions& call = {});
  absl::Status DeleteTensor(absl::string_view tensor_id,
                            const CallOptions& call = {});

  // Sessions. session.h keeps one alive.
  absl::StatusOr<v1::Session> CreateSession(
      const v1::CreateSessionRequest& request = {},
      const CallOptions& call = {});
  absl::StatusOr<v1::Session> KeepAlive(absl::string_view session_id,
                                        const CallOptions& call = {});
  absl::StatusOr<v1::CloseSessionResponse> CloseSession(
      absl::string_view session_id, const CallOptions& call = {});

  // Devices and kernels.
  absl::StatusOr<v1::ListDevicesResponse> ListDevices(
      const v1::ListDevicesRequest& request = {}, const CallOptions& call = {});
  // All pages in one answer.
  absl::StatusOr<std::vector<v1::Kernel>> ListKernels(
      v1::ListKernelsRequest request = {}, const CallOptions& call = {});

  // Accounting.
  absl::StatusOr<v1::OpProfile> GetOpProfile(
      const v1::GetOpProfileRequest& request = {},
      const CallOptions& call = {});
  absl::StatusOr<v1::OpProfileConfig> ConfigureOpProfile(
      const v1::ConfigureOpProfileRequest& request,
      const CallOptions& call = {});
  // Gives each profile of the stream to `seen` until that returns false, which
  // is OK, or the stream ends, whose status is returned. Its timeout is that of
  // `call` alone: zero is none.
  absl::Status WatchOpProfile(
      const v1::WatchOpProfileRequest& request,
      const std::function<bool(const v1::OpProfile&)>& seen,
      const CallOptions& call = {});

  // Whether the daemon, or one of its services by its full name, takes
  // requests. kNotFound for a service that it does not know.
  absl::StatusOr<grpc::health::v1::HealthCheckResponse::ServingStatus> Health(
      absl::string_view service = "", const CallOptions& call = {});

 private:
  struct Connection;

  explicit Client(std::unique_ptr<Connection> connection);

  absl::StatusOr<v1::SubmitGraphResponse> SubmitOnce(
      v1::GraphFormat format, absl::string_view bytes,
      const v1::CompileOptions& compile, absl::Time deadline);
  absl::StatusOr<v1::SubmitGraphResponse> UploadGraph(
      v1::GraphFormat format, absl::string_view bytes,
      const v1::CompileOptions& compile, int64_t chunk_bytes,
      absl::Time deadline);

  std::unique_ptr<Connection> connection_;
};

// Whether two runs of the request are as good as one: it takes no donated
// tensor and leaves none behind, or it has a request_id and names its session,
// so that the daemon knows the second as the first.
bool IsSafeToRepeat(const v1::ExecuteRequest& request);

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_CLIENT_H_
