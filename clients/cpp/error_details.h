#ifndef TENSORD_CLIENTS_CPP_ERROR_DETAILS_H_
#define TENSORD_CLIENTS_CPP_ERROR_DETAILS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tensord/v1/errors.pb.h"

namespace grpc {
class Status;
}

namespace tensord {

// What a call returned, with the code and the text as the server gave them. The
// typed details of the error travel as the status' payloads, each under its
// type URL. Trailing bytes that are no google.rpc.Status are dropped: the code
// and the text are still true.
absl::Status StatusFromGrpc(const grpc::Status& status);

// The same for an error within a message, such as Execution.error.
absl::Status StatusFromProto(const google::rpc::Status& status);

// The detail of this type, if the server sent one:
//
//   if (auto detail = ErrorDetail<v1::NoBackendForOp>(status)) ...detail->op()
//
// Those that tensord sends, and with which code, are at the top of
// proto/tensord/v1/errors.proto.
template <typename Message>
absl::optional<Message> ErrorDetail(const absl::Status& status) {
  const auto payload = status.GetPayload(
      absl::StrCat("type.googleapis.com/", Message::descriptor()->full_name()));
  Message message;
  if (!payload || !message.ParseFromString(std::string(*payload))) {
    return absl::nullopt;
  }
  return message;
}

// tensord's constant for why, or ERROR_REASON_UNSPECIFIED where there is none
// or this client is too old to know it (ErrorDetail<google::rpc::ErrorInfo> has
// its text then).
v1::ErrorReason ReasonOf(const absl::Status& status);

// How long to wait before the same call may do better. Absent: waiting does not
// help.
absl::optional<absl::Duration> RetryDelay(const absl::Status& status);

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_ERROR_DETAILS_H_
