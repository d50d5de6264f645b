#include "clients/cpp/error_details.h"

#include <grpcpp/support/status.h>

#include "absl/strings/cord.h"
#include "clients/cpp/durations.h"
#include "google/rpc/status.pb.h"

namespace tensord {
namespace {

void AddDetails(const google::rpc::Status& status, absl::Status& result) {
  for (const google::protobuf::Any& detail : status.details()) {
    result.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  }
}

}  // namespace

absl::Status StatusFromGrpc(const grpc::Status& status) {
  // gRPC's codes and Abseil's are the same numbers.
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
  google::rpc::Status details;
  if (result.ok() || !details.ParseFromString(status.error_details())) {
    return result;
  }
  AddDetails(details, result);
  return result;
}

absl::Status StatusFromProto(const google::rpc::Status& status) {
  absl::Status result(static_cast<absl::StatusCode>(status.code()),
                      status.message());
  if (!result.ok()) AddDetails(status, result);
  return result;
}

v1::ErrorReason ReasonOf(const absl::Status& status) {
  const auto info = ErrorDetail<google::rpc::ErrorInfo>(status);
  v1::ErrorReason reason;
  if (!info || info->domain() != "tensord" ||
      !v1::ErrorReason_Parse(info->reason(), &reason)) {
    return v1::ERROR_REASON_UNSPECIFIED;
  }
  return reason;
}

absl::optional<absl::Duration> RetryDelay(const absl::Status& status) {
  const auto info = ErrorDetail<google::rpc::RetryInfo>(status);
  if (!info) return absl::nullopt;
  return FromProto(info->retry_delay());
}

}  // namespace tensord
