#ifndef TENSORD_SERVER_RPC_STATUS_MAPPING_H_
#define TENSORD_SERVER_RPC_STATUS_MAPPING_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/rpc/status.pb.h"

namespace tensord {

// How an error of the process becomes what a client gets: the one place.
//
// A detail is a payload of the absl::Status: the API's own messages under their
// type URL (error_details.h), and the engine's typed ones (LimitDetails,
// NoBackendForOp), which are turned into the API's here. Sizes are held to what
// errors.proto promises: 4 KB of text, or 2 KB with details, and 4 KB of
// google.rpc.Status, since trailers carry 8 KB.
//
// The text of an INTERNAL error is for the log: paths are taken out of what a
// client sees. kUnknown and kDataLoss are our bugs, so INTERNAL too.
//
// Threading and ownership: pure.
inline constexpr size_t kMaxErrorTextBytes = 4096;
inline constexpr size_t kMaxErrorTextWithDetailsBytes = 2048;
inline constexpr size_t kMaxErrorDetailsBytes = 4096;

// `status` is not OK. `trace_id` is what the log calls this request: it goes
// into google.rpc.RequestInfo; with an empty one there is none.
google::rpc::Status ToRpcStatus(const absl::Status& status,
                                absl::string_view trace_id);

// OK stays OK.
grpc::Status ToGrpcStatus(const absl::Status& status,
                          absl::string_view trace_id = "");

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_STATUS_MAPPING_H_
