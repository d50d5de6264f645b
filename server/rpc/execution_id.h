#ifndef TENSORD_SERVER_RPC_EXECUTION_ID_H_
#define TENSORD_SERVER_RPC_EXECUTION_ID_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tensord {

// Overwrites `id` with a new `<instance>.<128 random bits>`, as types.proto
// says: 26 characters of lower-case base32.
// Threading: each thread has a generator of its own.
void NewExecutionId(absl::string_view instance, std::string& id);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_EXECUTION_ID_H_
