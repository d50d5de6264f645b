#include "server/errors/error_details.h"

#include <limits>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/limit_exceeded.h"
#include "google/rpc/error_details.pb.h"

namespace tensord {

absl::Status WithDetail(absl::Status status,
                        const google::protobuf::Message& detail) {
  if (!status.ok()) {
    status.SetPayload(absl::StrCat("type.googleapis.com/",
                                   detail.GetDescriptor()->full_name()),
                      absl::Cord(detail.SerializeAsString()));
  }
  return status;
}

absl::Status ErrorWithReason(absl::StatusCode code, v1::ErrorReason reason,
                             absl::string_view text, Metadata metadata) {
  google::rpc::ErrorInfo info;
  info.set_reason(v1::ErrorReason_Name(reason));
  info.set_domain("tensord");
  for (const auto& [key, value] : metadata) {
    (*info.mutable_metadata())[std::string(key)] = value;
  }
  return WithDetail(absl::Status(code, text), info);
}

std::string ReasonOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload =
      status.GetPayload("type.googleapis.com/google.rpc.ErrorInfo");
  google::rpc::ErrorInfo info;
  if (!payload.has_value() || !info.ParseFromString(std::string(*payload))) {
    return {};
  }
  return info.reason();
}

absl::Status MalformedMessage(absl::string_view message, size_t offset_bytes) {
  return ErrorWithReason(
      absl::StatusCode::kInvalidArgument, v1::MALFORMED_MESSAGE,
      absl::StrCat("the bytes are no ", message, ": decoding stopped at byte ",
                   offset_bytes),
      {{"message", std::string(message)},
       {"offset_bytes", absl::StrCat(offset_bytes)}});
}

absl::Status BadField(absl::string_view field, absl::string_view what) {
  google::rpc::BadRequest request;
  auto* violation = request.add_field_violations();
  violation->set_field(std::string(field));
  violation->set_description(std::string(what));
  return WithDetail(absl::InvalidArgumentError(absl::StrCat(field, ": ", what)),
                    request);
}

absl::Status ResourceNotFound(absl::string_view type, absl::string_view name) {
  google::rpc::ResourceInfo info;
  info.set_resource_type(std::string(type));
  info.set_resource_name(Escape(name));
  return WithDetail(absl::NotFoundError(
                        absl::StrCat("there is no ", type, " ", Quoted(name))),
                    info);
}

absl::Status FeatureOff(absl::string_view feature) {
  return ErrorWithReason(absl::StatusCode::kUnimplemented, v1::FEATURE_OFF,
                         absl::StrCat(feature, " is not in this version"),
                         {{"feature", std::string(feature)}});
}

absl::Status MessageTooLarge(absl::string_view side, uint64_t size_bytes,
                             int64_t max_message_bytes) {
  LimitDetails details;
  details.limit = "max_message_bytes";
  details.maximum = max_message_bytes;
  details.requested = static_cast<int64_t>(size_bytes);
  details.unit = "bytes";
  details.scope = std::string(side);
  return details.ToStatus(absl::StrCat("the daemon's ", side, " would have ",
                                       size_bytes, " bytes"));
}

}  // namespace tensord
