#ifndef TENSORD_SERVER_SESSIONS_RESOURCE_ID_H_
#define TENSORD_SERVER_SESSIONS_RESOURCE_ID_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tensord {

// Ids of executions, sessions and tensors: `<instance>.<128 random bits in
// base32>`, as types.proto says.
//
// Threading: thread-safe.

// Writes a fresh one over `id`, whose capacity is used again.
void NewResourceId(absl::string_view instance, std::string& id);
std::string NewResourceId(absl::string_view instance);

// Whether `id` can be one of `instance`. `type`: "tensor".
// Errors: kInvalidArgument for text that is no id; kFailedPrecondition,
//   WRONG_INSTANCE, for another instance's.
absl::Status CheckResourceId(absl::string_view type, absl::string_view id,
                             absl::string_view instance);

}  // namespace tensord

#endif  // TENSORD_SERVER_SESSIONS_RESOURCE_ID_H_
