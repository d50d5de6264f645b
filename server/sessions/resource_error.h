#ifndef TENSORD_SERVER_SESSIONS_RESOURCE_ERROR_H_
#define TENSORD_SERVER_SESSIONS_RESOURCE_ERROR_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tensord {

// Why something that a session owns cannot be had, as the payload of an
// absl::Status: without protobuf, which the server's status_mapping.cc adds.
//
// Threading and ownership: a plain value.
struct ResourceError {
  using Metadata = std::vector<std::pair<std::string, std::string>>;

  // One of the three is told: ErrorInfo, ResourceInfo or BadRequest.
  std::string reason;         // "TENSOR_CONSUMED"
  Metadata metadata;          // of the reason
  std::string resource_type;  // "tensor"
  std::string resource_name;
  std::string field;  // "time_to_live"; what is wrong with it is the text

  absl::Status ToStatus(absl::StatusCode code, absl::string_view text) const;

  // Nothing when the status carries no such payload.
  static std::optional<ResourceError> FromStatus(const absl::Status& status);
};

// kNotFound: "no tensor 'x'". `name` is a client's text.
absl::Status NoResource(absl::string_view type, absl::string_view name);

// kInvalidArgument: a field's value is wrong.
absl::Status WrongField(absl::string_view field, absl::string_view what);

// kFailedPrecondition, SESSION_CLOSED.
absl::Status SessionIsClosed(absl::string_view session_id);

}  // namespace tensord

#endif  // TENSORD_SERVER_SESSIONS_RESOURCE_ERROR_H_
