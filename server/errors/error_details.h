#ifndef TENSORD_SERVER_ERRORS_ERROR_DETAILS_H_
#define TENSORD_SERVER_ERRORS_ERROR_DETAILS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tensord/v1/errors.pb.h"

namespace tensord {

// Statuses of the server's own with the API's typed details in them. A detail
// travels as a payload of the absl::Status under its protobuf type URL;
// status_mapping.h sends it on.
//
// Threading and ownership: pure. Texts are repeated as given: whoever puts a
// client's string in escapes it (engine/graph/escape.h).

// `status` with one more detail. A second one of the same type replaces it.
absl::Status WithDetail(absl::Status status,
                        const google::protobuf::Message& detail);

using Metadata =
    std::initializer_list<std::pair<absl::string_view, std::string>>;

// With ErrorInfo, domain "tensord".
absl::Status ErrorWithReason(absl::StatusCode code, v1::ErrorReason reason,
                             absl::string_view text, Metadata metadata = {});

// ErrorInfo's reason: "DRAINING". Empty when there is none.
std::string ReasonOf(const absl::Status& status);

// kInvalidArgument, MALFORMED_MESSAGE. `message` is its full name, `offset`
// where decoding stopped.
absl::Status MalformedMessage(absl::string_view message, size_t offset_bytes);

// kInvalidArgument with BadRequest: a field's value is wrong.
absl::Status BadField(absl::string_view field, absl::string_view what);

// kNotFound with ResourceInfo. `type` is "graph", "device"; `name` is escaped.
absl::Status ResourceNotFound(absl::string_view type, absl::string_view name);

// kUnimplemented, FEATURE_OFF: "StartExecution is not in this version".
absl::Status FeatureOff(absl::string_view feature);

// kResourceExhausted, LimitExceeded, for a message that is too large; which
// side: "received message" or "sent message".
absl::Status MessageTooLarge(absl::string_view side, uint64_t size_bytes,
                             int64_t max_message_bytes);

}  // namespace tensord

#endif  // TENSORD_SERVER_ERRORS_ERROR_DETAILS_H_
