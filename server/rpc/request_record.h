#ifndef TENSORD_SERVER_RPC_REQUEST_RECORD_H_
#define TENSORD_SERVER_RPC_REQUEST_RECORD_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/rpc/service_environment.h"

namespace tensord {

// A method as calls of it are recorded: looked up once for each method.
// Threading: immutable. Ownership: borrows the environment.
struct MethodRecord {
  static constexpr size_t kNoMetrics = SIZE_MAX;

  // `full_name`: "/tensord.v1.GraphService/SubmitGraph".
  MethodRecord(const ServiceEnvironment& environment, std::string full_name);

  const ServiceEnvironment& environment;
  const std::string full_name;
  const size_t metrics_index;  // of RequestMetrics
};

// One call from its arrival to its answer: its metrics, and its line in the
// log if it failed, took long, or the level is debug.
//
// Threading: one thread at a time. Ownership: borrows the method.
class RequestRecord {
 public:
  explicit RequestRecord(const MethodRecord& method);

  void AddRequestBytes(uint64_t bytes) { request_bytes_ += bytes; }

  // Records the end, once, and gives what to finish the call with.
  grpc::Status End(const absl::Status& status,
                   const grpc::CallbackServerContext& context);

  const MethodRecord& method() const { return *method_; }

  // What logs, errors and the record of a run call this call: the trace id that
  // the client sent along (W3C traceparent), else one that is made here, once.
  const std::string& TraceId(const grpc::CallbackServerContext& context);

 private:
  bool IsSlow(uint64_t duration_ns) const;
  void Log(const absl::Status& status, uint64_t duration_ns,
           const grpc::CallbackServerContext& context) const;

  const MethodRecord* method_;
  uint64_t start_ticks_;
  uint64_t request_bytes_ = 0;
  std::string trace_id_;  // empty until somebody asks
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_REQUEST_RECORD_H_
