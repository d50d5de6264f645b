#ifndef TENSORD_CLIENTS_CPP_CLIENT_H_
#define TENSORD_CLIENTS_CPP_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "grpc/health/v1/health.pb.h"
#include "tensord/v1/device_service.pb.h"
#include "tensord/v1/execution_service.pb.h"
#include "tensord/v1/graph_service.pb.h"
#include "tensord/v1/profile_service.pb.h"

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

  // Null: plain text, as a daemon on the loopback address expects.
  std::shared_ptr<grpc::ChannelCredentials> credentials;
};

struct CallOptions {
  // Of the whole call, all pages and chunks included. Zero: ClientOptions'.
  // absl::InfiniteDuration(): none.
  absl::Duration timeout = absl::ZeroDuration();
};

// A connection to one daemon. The calls are those of proto/tensord/v1, which
// tells what their fields mean; what this class adds is deadlines, pages put
// together, large graphs uploaded, and errors as absl::Status.
//
// Threading: every method may be called from any thread, at any time.
// Ownership: the channel ends with the client. A process that sent large
//   messages should end by LeaveProcess() (leave_process.h).
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

  absl::StatusOr<v1::ExecuteResponse> Execute(const v1::ExecuteRequest& request,
                                              const CallOptions& call = {});

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

  // Whether the daemon, or one of its services by its full name, takes
  // requests. kNotFound for a service that it does not know.
  absl::StatusOr<grpc::health::v1::HealthCheckResponse::ServingStatus> Health(
      absl::string_view service = "", const CallOptions& call = {});

 private:
  struct Connection;

  explicit Client(std::unique_ptr<Connection> connection);

  absl::StatusOr<v1::SubmitGraphResponse> UploadGraph(
      v1::GraphFormat format, absl::string_view bytes,
      const v1::CompileOptions& compile, int64_t chunk_bytes,
      absl::Time deadline);

  std::unique_ptr<Connection> connection_;
};

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_CLIENT_H_
